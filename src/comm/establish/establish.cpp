#include "comm/establish/establish.hpp"

#include "comm/establish/stages.hpp"
#include "comm/run/host_memory.hpp"
#include "plan/search/search.hpp"
#include "plan/tuning/user_limits.hpp"

namespace ringlet::comm {
namespace {

struct Surroundings {
  LocalHost local_host;
  transport::ListenerSet listeners;
  std::vector<PeerInfo> peer_infos;
};

// One that begins as if all ranks were on one host, where they are not.
Status LookAtDevices(Origin& origin, Control& control, Surroundings& own) {
  origin.config.expects_one_host = false;
  RINGLET_TRY_ASSIGN(own.local_host, DiscoverLocal(*origin.process, origin.config));
  own.listeners = {};
  RINGLET_TRY_ASSIGN(own.listeners,
                     OpenDataListener(*origin.process, origin.credentials, own.local_host));
  RINGLET_TRY_ASSIGN(own.peer_infos,
                     ExchangePeerInfo(origin, control, own.local_host, own.listeners));
  return Ok();
}

// From a control network to a communicator, whether its ranks have just met or knew each other.
Result<std::unique_ptr<Communicator>> Complete(Origin origin, std::unique_ptr<Control> control,
                                               Surroundings own, Timeline timeline,
                                               const std::stop_token& abort) {
  if (LackDevices(own.peer_infos))
    RINGLET_TRY(control->Share(LookAtDevices(origin, *control, own)));
  RINGLET_TRY_ASSIGN(PeerTable peer_table, control->Share(MakePeerTable(
                                               *control, std::move(own.peer_infos),
                                               origin.process->settings(), own.local_host.view)));
  timeline.Reached(Phase::kPeerTable);

  // The decisions made of all that: pure functions of the peer table, the same on every rank.
  RINGLET_TRY_ASSIGN(const topology::Graph graph,
                     control->Share(topology::Build(peer_table.hosts, peer_table.places)));
  timeline.Reached(Phase::kTopology);
  RINGLET_TRY_ASSIGN(
      const plan::SearchLimits user_limits,
      control->Share(plan::ReadUserLimits(origin.process->settings(), origin.process->graphs())));
  RINGLET_TRY_ASSIGN(Planned planned, control->Share(PlanMachine(origin, peer_table)));
  const GpuMachine* const machine = planned.machine.get();
  RINGLET_TRY_ASSIGN(
      plan::ChannelPlan plan,
      control->Share(machine ? machine->gpus().channels() : plan::Search(graph, user_limits)));
  timeline.Reached(Phase::kPlan);
  RINGLET_TRY_ASSIGN(auto offer, control->Share(OfferHostMemory(origin, peer_table)));
  RINGLET_TRY_ASSIGN(auto proof, control->Share(ProcessProof::Draw()));
  RINGLET_TRY_ASSIGN(auto nonces, control->Share(control->RequireEqual(
                                      plan.digest(), "channel plan", proof.nonce())));
  DumpGraphs(origin, plan, machine);

  // The data plane, then all ranks at once.
  RINGLET_TRY_ASSIGN(auto share, control->Share(FetchHostMemory(
                                     origin, peer_table, std::move(offer), *control, abort)));
  RINGLET_TRY_ASSIGN(auto links, control->Share(Connect(origin, plan, peer_table, *control,
                                                        std::move(own.listeners), abort)));
  timeline.Reached(Phase::kConnect);
  RINGLET_TRY_ASSIGN(
      auto memory, control->Share(AgreeOnHostMemory(origin, peer_table, *control, std::move(share),
                                                    {std::move(proof), std::move(nonces)})));
  timeline.Reached(Phase::kBarrier);
  RINGLET_TRY(control->Share(Report(origin, *control, timeline)));
  return Finish(std::move(origin), std::move(control), std::move(peer_table), std::move(plan),
                std::move(links), std::move(memory), std::move(planned));
}

Result<std::unique_ptr<Communicator>> Form(const std::shared_ptr<Process>& process,
                                           const Config& config, const std::stop_token& abort) {
  Timeline timeline("Establish");
  RINGLET_TRY(CheckArguments(config));
  RINGLET_TRY_ASSIGN(const std::vector<Invitation> invitations, ReadIds(*process, config));
  RINGLET_TRY(OpenFixedRoot(process, invitations.front(), config));

  // The devices and addresses of this rank: reads the machine.
  RINGLET_TRY_ASSIGN(const LocalHost local_host, DiscoverLocal(*process, config));
  process->ServeNear(local_host.cpus, local_host.numa);
  RINGLET_TRY_ASSIGN(Listeners listeners,
                     OpenListeners(*process, invitations.front(), config, local_host));
  timeline.Reached(Phase::kDiscoverLocal);

  // The other ranks: check-in at the root, roster, standing control network.
  RINGLET_TRY_ASSIGN(std::unique_ptr<Control> control,
                     Join(process, config, invitations, local_host, listeners, abort));
  timeline.Joined(control->milestones());
  RINGLET_TRY_ASSIGN(std::vector<PeerInfo> peer_infos, control->Share(ReadPeerInfo(*control)));
  return Complete({process, config, invitations.front().credentials}, std::move(control),
                  {local_host, std::move(listeners.data), std::move(peer_infos)},
                  std::move(timeline), abort);
}

}  // namespace

Result<std::unique_ptr<Communicator>> Establish(const std::shared_ptr<Process>& process,
                                                const Config& config,
                                                const std::stop_token& abort) {
  const std::uint64_t shortages = process->shortages();
  auto formed = Form(process, config, abort);
  if (formed.ok() || process->shortages() == shortages) return formed;
  // The last failure may say nothing of the cause: a peer that could not call, say, is missing.
  Error error = std::move(formed).error();
  error.message += "; this process was out of file descriptors meanwhile: raise ulimit -n";
  return error;
}

Result<std::unique_ptr<Communicator>> EstablishChild(const Communicator& parent,
                                                     std::unique_ptr<Control> control,
                                                     const std::stop_token& abort) {
  Timeline timeline("EstablishChild");
  Origin origin = ChildOf(parent.origin(), *control);
  control->set_operation_timeout(InitTimeout(*origin.process, origin.config));
  RINGLET_TRY_ASSIGN(const LocalHost local_host,
                     control->Share(DiscoverLocal(*origin.process, origin.config)));
  RINGLET_TRY_ASSIGN(auto listeners, control->Share(OpenDataListener(
                                         *origin.process, origin.credentials, local_host)));
  timeline.Reached(Phase::kDiscoverLocal);
  RINGLET_TRY_ASSIGN(std::vector<PeerInfo> peer_infos,
                     control->Share(ExchangePeerInfo(origin, *control, local_host, listeners)));
  timeline.Reached(Phase::kStanding);
  return Complete(std::move(origin), std::move(control),
                  {local_host, std::move(listeners), std::move(peer_infos)}, std::move(timeline),
                  abort);
}

}  // namespace ringlet::comm
