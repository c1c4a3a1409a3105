// How the front ends start threads, which see comm and not os.
#pragma once
#include "os/thread.hpp"

namespace ringlet::comm {

using os::Caught;
using os::StartThread;

}  // namespace ringlet::comm
