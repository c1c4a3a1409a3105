// The clock for the front ends, which include comm and not os.
#pragma once
#include "os/clock.hpp"

namespace ringlet::comm {

using os::Now;

}  // namespace ringlet::comm
