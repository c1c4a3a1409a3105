// The stages of Establish that use the system or the caller's arguments, one function each.
#pragma once
#include <memory>
#include <stop_token>

#include "comm/backend/host_memory.hpp"
#include "comm/control/control.hpp"
#include "comm/establish/data_plane.hpp"
#include "comm/establish/establish.hpp"
#include "comm/establish/gather_peers.hpp"
#include "comm/establish/listeners.hpp"
#include "comm/establish/local_resources.hpp"
#include "comm/establish/timeline.hpp"
#include "comm/machine/machine.hpp"
#include "comm/peers/peer_table.hpp"
#include "comm/run/communicator.hpp"
#include "plan/channels/channel_plan.hpp"
#include "rendezvous/invitation.hpp"

namespace ringlet::comm {

/// Errors  kInvalidArgument  a size of 0 or too large, a rank that is not below it.
Status CheckArguments(const Config& config);

/// Decodes the ids. The first one is config.id.
/// Errors  kInvalidArgument  an id that is damaged or foreign; more ids than ranks; a growth id on
///                           a rank of the parent
Result<std::vector<Invitation>> ReadIds(Process& process, const Config& config);

/// Starts the root on rank 0 of an id with a fixed address. Does nothing on all other ranks.
/// Errors  kSystem  the address is taken or not of this host.
Status OpenFixedRoot(const std::shared_ptr<Process>& process, const Invitation& invitation,
                     const Config& config);

/// Returns the configuration of the control network for a rank with these listeners and peer info.
Result<bootstrap::MemberConfig> MemberConfigOf(const Process& process, const Config& config,
                                               const std::vector<Invitation>& invitations,
                                               const Listeners& listeners,
                                               const PeerInfo& peer_info);

Result<std::unique_ptr<Control>> Join(const std::shared_ptr<Process>& process, const Config& config,
                                      const std::vector<Invitation>& invitations,
                                      const LocalHost& local_host, Listeners& listeners,
                                      const HostMemoryDraft& draft, const std::stop_token& abort);

/// Returns the identity of a child communicator: its own names, secret and ranks.
Origin ChildOf(const Origin& parent, const Control& control);

/// The machine of RINGLET_MACHINE with its plan, and the tuner of the communicator, which may
/// change the time model. Each may be null. Errors  as GpuMachine::Plan
struct Planned {
  std::shared_ptr<const GpuMachine> machine;
  std::unique_ptr<TunerSession> tuner;
};
Result<Planned> PlanMachine(const Origin& origin, const PeerTable& peer_table);

/// The rank of GRAPH_DUMP_FILE_RANK writes the channels of its host. A failure to write is a
/// warning that names the file.
/// \param machine  null: ranks in CPU memory
void DumpGraphs(const Origin& origin, const plan::ChannelPlan& plan, const GpuMachine* machine);

/// Logs the time line. With RINGLET_TRACE, rank 0 writes the time lines of all ranks.
Status Report(const Origin& origin, Control& control, const Timeline& timeline);

std::unique_ptr<Communicator> Finish(Description description, std::unique_ptr<Control> control,
                                     DataPlane data, Planned planned);

}  // namespace ringlet::comm
