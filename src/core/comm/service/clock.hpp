// The time for the front ends, which see comm and not os.
#pragma once
#include "os/clock.hpp"

namespace ringlet::comm {

using os::Now;

}  // namespace ringlet::comm
