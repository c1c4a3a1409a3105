// The root of a communicator in this process.
#pragma once
#include <memory>

#include "base/wire/handshake.hpp"
#include "comm/process/config.hpp"
#include "comm/process/process.hpp"
#include "rendezvous/invitation.hpp"
#include "transport/wireup/listener_set.hpp"

namespace ringlet::comm {

/// Serves a root at `endpoint` on the service thread until the communicator is formed or has
/// failed. Also ends after Roots::kUnusedMax later roots if no rank has checked in.
Status HostRoot(const std::shared_ptr<Process>& process, const rendezvous::Invitation& invitation,
                transport::ListenerSet endpoint);

/// Warns if the name in COMM_ID is a loopback address here, unless the name itself shows that.
void WarnOfLoopback(Process& process, const Address& root);

/// Replaces the first id of a launched job's process by the job's id. Ranks then meet even if each
/// made its own id. Applies to the first communicator with as many ranks as the job has processes,
/// or a multiple of that. Other communicators keep their ids, so that parts of the job can form
/// theirs at the same time. Errors  kInvalidArgument  RINGLET_UNIQUE_ID does not parse
Status UseIdOfJob(Process& process, const Config& config, rendezvous::Invitation& invitation);

}  // namespace ringlet::comm
