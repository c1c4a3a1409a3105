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
/// failed, or until Process::kUnusedRootsMax later ones were made and no rank has checked in at it.
Status HostRoot(const std::shared_ptr<Process>& process, const rendezvous::Invitation& invitation,
                transport::ListenerSet endpoint);

/// Warns where the name in COMM_ID, which does not say so itself, is a loopback address here.
void WarnOfLoopback(Process& process, const Address& root);

/// Replaces the first id of a process of a launched job by the id of the job, for the first
/// communicator of as many ranks as the job has processes, or of a multiple of that: ranks that
/// each made an id of their own then meet. Other communicators keep their ids, so that parts of the
/// job can form theirs at the same time. Errors  kInvalidArgument  RINGLET_UNIQUE_ID is no id
Status MeetAsJob(Process& process, const Config& config, rendezvous::Invitation& invitation);

}  // namespace ringlet::comm
