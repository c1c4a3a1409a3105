// The root of a communicator in this process.
#pragma once
#include <memory>
#include <vector>

#include "base/handshake.hpp"
#include "comm/process.hpp"

namespace ringlet::comm {

/// Serves `listeners` on the service thread until the communicator is formed or has failed.
Status HostRoot(const std::shared_ptr<Process>& process, const Credentials& credentials,
                std::vector<os::Listener> listeners);

}  // namespace ringlet::comm
