// Starts threads for the front ends, which include comm and not os.
#pragma once
#include "os/process/thread.hpp"

namespace ringlet::comm {

using os::Caught;
using os::StartThread;

}  // namespace ringlet::comm
