// The stages of Establish that touch the world or the caller's arguments, one function each.
#pragma once
#include <memory>
#include <stop_token>

#include "comm/backend/host_memory.hpp"
#include "comm/control/control.hpp"
#include "comm/control/link_request.hpp"
#include "comm/establish/establish.hpp"
#include "comm/establish/gather_peers.hpp"
#include "comm/establish/timeline.hpp"
#include "comm/machine/machine.hpp"
#include "comm/peers/peer_table.hpp"
#include "comm/run/communicator.hpp"
#include "plan/channels/channel_plan.hpp"
#include "rendezvous/invitation.hpp"
#include "transport/wireup/connect.hpp"
#include "transport/wireup/links.hpp"
#include "transport/wireup/listener_set.hpp"

namespace ringlet::comm {

using rendezvous::Invitation;

/// Errors  kInvalidArgument  a size of 0 or too large, a rank that is not below it.
Status CheckArguments(const Config& config);

/// The ids' contents, the first one's first.
/// Errors  kInvalidArgument  an id that is damaged or foreign; more ids than ranks; an id that
/// grows
///                           a communicator in the hands of a rank that is in it
Result<std::vector<Invitation>> ReadIds(Process& process, const Config& config);

/// Rank 0 of an id with a fixed address starts the root there; for all others, nothing.
/// Errors  kSystem  the address is taken or not of this host.
Status OpenFixedRoot(const std::shared_ptr<Process>& process, const Invitation& invitation,
                     const Config& config);

/// The surroundings of this rank.
struct LocalHost {
  topology::HostView view;
  std::uint32_t numa = 0;  ///< id of the NUMA node that the rank lives at
  /// The cores where the service thread is near; empty: anywhere.
  topology::CpuSet cpus = {};
  /// The cores of the rank itself; empty: unknown.
  topology::CpuSet allowed = {};
  std::optional<std::uint32_t> gpu = {};  ///< index of the one that the caller named
  bool knows_devices = true;              ///< else there are no NICs and GPUs in `view`
};
Result<LocalHost> DiscoverLocal(Process& process, const Config& config);

/// The addresses at which the other ranks will call. Opened before check-in, so that no rank dials
/// too early.
struct Listeners {
  transport::ListenerSet control;
  transport::ListenerSet data;
  /// The address of this host's node leader, and whether this rank is it: the first of a host to
  /// open the address is.
  std::optional<Address> node_leader = {};
  bool speaks = false;
};
Result<Listeners> OpenListeners(Process& process, const Invitation& invitation,
                                const Config& config, const LocalHost& local_host);
Result<transport::ListenerSet> OpenDataListener(Process& process, const Credentials& credentials,
                                                const LocalHost& local_host, std::uint32_t size);
/// Fills `node leader` and `speaks`, and adds the listener, where ranks of a host check in
/// together.
void OpenNodeLeaderListener(const Process& process, const Invitation& invitation,
                            const Config& config, Listeners& listeners);

/// The configuration of the control network for a rank with these listeners and this peer info.
Result<bootstrap::MemberConfig> MemberConfigOf(const Process& process, const Config& config,
                                               const std::vector<Invitation>& invitations,
                                               const Listeners& listeners,
                                               const PeerInfo& peer_info);

Result<std::unique_ptr<Control>> Join(const std::shared_ptr<Process>& process, const Config& config,
                                      const std::vector<Invitation>& invitations,
                                      const LocalHost& local_host, Listeners& listeners,
                                      const HostMemoryDraft& draft, const std::stop_token& abort);

/// The identity of a child communicator: its own names, secret and ranks.
Origin ChildOf(const Origin& parent, const Control& control);
/// The peer infos of all ranks of `control`, which has no roster with fresh ones.
Result<std::vector<PeerInfo>> ExchangePeerInfo(const Origin& origin, Control& control,
                                               const LocalHost& local_host,
                                               const transport::ListenerSet& listeners,
                                               const HostMemoryDraft& draft);

/// Whether ranks on several hosts must look at their devices now, since one has not yet. Pure.
bool LackDevices(const std::vector<PeerInfo>& peer_infos);

/// The machine of RINGLET_MACHINE with its plan, and the tuner of the communicator, which may
/// change the model of times; null where there is none. Errors  as GpuMachine::Plan
struct Planned {
  std::shared_ptr<const GpuMachine> machine;
  std::unique_ptr<TunerSession> tuner;
};
Result<Planned> PlanMachine(const Origin& origin, const PeerTable& peer_table);

/// The rank of GRAPH_DUMP_FILE_RANK writes the channels of its host. A file that cannot be written
/// is a warning that names it, no reason to fail.
/// \param machine  null: ranks in CPU memory
void DumpGraphs(const Origin& origin, const plan::ChannelPlan& plan, const GpuMachine* machine);

/// Links to every rank that `plan` makes a neighbour of this one; none yet where the ranks use the
/// memory of their host.
Result<std::unique_ptr<transport::Links>> Connect(const Origin& origin,
                                                  const plan::ChannelPlan& plan,
                                                  const PeerTable& peer_table, Control& control,
                                                  transport::ListenerSet listeners,
                                                  const std::stop_token& abort);

/// Logs the time line; with RINGLET_TRACE rank 0 writes that of all ranks.
Status Report(const Origin& origin, Control& control, const Timeline& timeline);

std::unique_ptr<Communicator> Finish(Origin origin, std::unique_ptr<Control> control,
                                     PeerTable peer_table, plan::ChannelPlan plan,
                                     std::unique_ptr<transport::Links> links,
                                     HostMemoryParts memory, Planned planned);

}  // namespace ringlet::comm
