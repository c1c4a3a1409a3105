#include "comm/establish/establish.hpp"

#include "comm/backend/host_memory.hpp"
#include "comm/establish/renumber.hpp"
#include "comm/establish/root.hpp"
#include "comm/establish/stages.hpp"
#include "plan/search/search.hpp"
#include "plan/tuning/user_limits.hpp"

namespace ringlet::comm {
namespace {

// Completes a communicator on its control network, for new ranks and for ranks of a parent.
Result<std::unique_ptr<Communicator>> Complete(Origin origin, std::unique_ptr<Control> control,
                                               LocalResources own, Timeline timeline,
                                               const std::stop_token& abort) {
  RINGLET_TRY_ASSIGN(own, control->Share(WithDevices(origin, *control, std::move(own))));
  RINGLET_TRY_ASSIGN(PeerTable peer_table, control->Share(MakePeerTable(
                                               *control, std::move(own.peer_infos),
                                               origin.process->settings(), own.local_host.view)));
  timeline.Reached(Phase::kPeerTable);

  // The decisions: pure functions of the peer table, the same on every rank.
  RINGLET_TRY_ASSIGN(const topology::Graph graph,
                     control->Share(topology::Build(peer_table.hosts, peer_table.places)));
  timeline.Reached(Phase::kTopology);
  RINGLET_TRY_ASSIGN(const plan::SearchLimits user_limits,
                     control->Share(plan::ReadUserLimits(origin.process->settings(),
                                                         origin.process->facts().graphs)));
  RINGLET_TRY_ASSIGN(Planned planned, control->Share(PlanMachine(origin, peer_table)));
  const GpuMachine* const machine = planned.machine.get();
  RINGLET_TRY_ASSIGN(
      plan::ChannelPlan plan,
      control->Share(machine ? machine->gpus().channels() : plan::Search(graph, user_limits)));
  timeline.Reached(Phase::kPlan);
  DumpGraphs(origin, plan, machine);

  // The data plane, then a barrier of all ranks.
  RINGLET_TRY_ASSIGN(DataPlane data,
                     control->Share(JoinDataPlane(origin, plan, peer_table, *control,
                                                  std::move(own), timeline, abort)));
  timeline.Reached(Phase::kBarrier);
  RINGLET_TRY(control->Share(Report(origin, *control, timeline)));
  return Finish({std::move(origin), std::move(peer_table), std::move(plan)}, std::move(control),
                std::move(data), std::move(planned));
}

Result<std::unique_ptr<Communicator>> Form(const std::shared_ptr<Process>& process,
                                           const Config& config, Preparation prepared,
                                           const std::stop_token& abort) {
  Timeline timeline("Establish");
  RINGLET_TRY(CheckArguments(config));
  RINGLET_TRY_ASSIGN(std::vector<Invitation> invitations, ReadIds(*process, config));
  RINGLET_TRY(UseIdOfJob(*process, config, invitations.front()));
  RINGLET_TRY(OpenFixedRoot(process, invitations.front(), config));

  // The devices and addresses of this rank, which are read from the machine.
  RINGLET_TRY_ASSIGN(const LocalHost local_host, DiscoverLocal(*process, config));
  process->services().MoveServicesNear(local_host.cpus, local_host.numa);
  RINGLET_TRY_ASSIGN(Listeners listeners,
                     OpenListeners(*process, invitations.front(), config, local_host,
                                   std::move(prepared.node_leader)));
  RINGLET_TRY_ASSIGN(HostMemoryDraft memory,
                     DraftHostMemory(*process, config, std::move(prepared.memory)));
  timeline.Reached(Phase::kDiscoverLocal);

  // The other ranks: check-in at the root, roster, complete control network.
  RINGLET_TRY_ASSIGN(std::unique_ptr<Control> control,
                     Join(process, config, invitations, local_host, listeners, memory, abort));
  timeline.Joined(control->milestones());
  if (prepared.on_joined) prepared.on_joined();
  RINGLET_TRY_ASSIGN(std::vector<PeerInfo> peer_infos, control->Share(ReadPeerInfo(*control)));
  return Complete({process, config, invitations.front().credentials}, std::move(control),
                  {local_host, std::move(listeners.data), std::move(memory), std::move(peer_infos)},
                  std::move(timeline), abort);
}

Result<std::unique_ptr<Communicator>> FormChild(const Communicator& parent,
                                                std::unique_ptr<Control> control, Timeline timeline,
                                                const std::stop_token& abort) {
  Origin origin = ChildOf(parent.origin(), *control);
  origin.config.expects_one_host = parent.peer_table().hosts.size() == 1;
  control->set_operation_timeout(InitTimeout(*origin.process, origin.config));
  RINGLET_TRY_ASSIGN(const LocalHost local_host,
                     control->Share(DiscoverLocal(*origin.process, origin.config)));
  RINGLET_TRY_ASSIGN(auto listeners,
                     control->Share(OpenDataListener(*origin.process, origin.credentials,
                                                     local_host, origin.config.size)));
  RINGLET_TRY_ASSIGN(HostMemoryDraft memory,
                     control->Share(DraftHostMemory(*origin.process, origin.config)));
  timeline.Reached(Phase::kDiscoverLocal);
  RINGLET_TRY_ASSIGN(
      LocalResources own,
      control->Share(ExchangePeerInfo(origin, *control,
                                      {local_host, std::move(listeners), std::move(memory), {}})));
  timeline.Reached(Phase::kStanding);
  return Complete(std::move(origin), std::move(control), std::move(own), std::move(timeline),
                  abort);
}

}  // namespace

Result<std::unique_ptr<Communicator>> Establish(const std::shared_ptr<Process>& process,
                                                const Config& config, const std::stop_token& abort,
                                                Preparation prepared) {
  const std::uint64_t shortages = process->services().shortages();
  auto formed = Form(process, config, std::move(prepared), abort);
  if (formed.ok() || process->services().shortages() == shortages) return formed;
  Error error = std::move(formed).error();
  if (error.message.find("ulimit -n") != std::string::npos) return error;
  // The last failure may hide the cause, for example if a peer that could not connect is missing.
  error.message += "; this process was out of file descriptors meanwhile: raise ulimit -n";
  return error;
}

Result<std::unique_ptr<Communicator>> EstablishChild(const Communicator& parent,
                                                     std::unique_ptr<Control> control,
                                                     Timeline timeline,
                                                     const std::stop_token& abort) {
  const std::vector<std::uint32_t> numbers = control->ranks_of_parent();
  auto formed = FormChild(parent, std::move(control), std::move(timeline), abort);
  if (formed.ok()) return formed;
  Error error = std::move(formed).error();
  error.message = Renumbered(error.message, numbers);
  return error;
}

}  // namespace ringlet::comm
