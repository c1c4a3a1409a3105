// The root of a communicator in this process.
#pragma once
#include <memory>

#include "base/wire/handshake.hpp"
#include "comm/process/process.hpp"
#include "transport/listener_set.hpp"

namespace ringlet::comm {

/// Serves a root at `endpoint` on the service thread until the communicator is formed or has
/// failed, or until Process::kUnusedRootsMax later ones were made and no rank has checked in at it.
Status HostRoot(const std::shared_ptr<Process>& process, const Credentials& credentials,
                transport::ListenerSet endpoint);

}  // namespace ringlet::comm
