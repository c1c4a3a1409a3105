#include "comm/establish.hpp"

#include "comm/host_memory.hpp"
#include "comm/stages.hpp"
#include "plan/search.hpp"
#include "plan/wishes.hpp"

namespace ringlet::comm {
namespace {

// From a control network to a communicator, whether its ranks have just met or knew each other.
Result<std::unique_ptr<Communicator>> Complete(Origin origin, std::unique_ptr<Control> control,
                                               std::vector<Card> cards, const Here& here,
                                               transport::Endpoint door, Timeline timeline,
                                               const std::stop_token& abort) {
  RINGLET_TRY_ASSIGN(Census census,
                     control->Share(TakeCensus(*control, std::move(cards),
                                               origin.process->settings(), here.view)));
  timeline.Reached(Phase::kCensus);

  // What to do with all that: pure functions of the census, the same on every rank.
  RINGLET_TRY_ASSIGN(const topology::Graph graph,
                     control->Share(topology::Build(census.hosts, census.places)));
  timeline.Reached(Phase::kTopology);
  RINGLET_TRY_ASSIGN(
      const plan::SearchLimits wishes,
      control->Share(plan::ReadWishes(origin.process->settings(), origin.process->graphs())));
  RINGLET_TRY_ASSIGN(plan::ChannelPlan plan, control->Share(plan::Search(graph, wishes)));
  timeline.Reached(Phase::kPlan);
  RINGLET_TRY_ASSIGN(auto offer, control->Share(OfferHostMemory(origin, census)));
  RINGLET_TRY(control->Share(control->RequireEqual(plan.digest(), "channel plan")));
  DumpGraphs(origin, plan);

  // The data plane, then everybody at once.
  RINGLET_TRY_ASSIGN(auto share, control->Share(FetchHostMemory(origin, census, std::move(offer),
                                                                *control, abort)));
  RINGLET_TRY_ASSIGN(
      auto links, control->Share(Connect(origin, plan, census, *control, std::move(door), abort)));
  timeline.Reached(Phase::kConnect);
  RINGLET_TRY_ASSIGN(auto memory,
                     control->Share(AgreeOnHostMemory(origin, census, *control, std::move(share))));
  timeline.Reached(Phase::kBarrier);
  RINGLET_TRY(control->Share(Report(origin, *control, timeline)));
  return Settle(std::move(origin), std::move(control), std::move(census), std::move(plan),
                std::move(links), std::move(memory));
}

Result<std::unique_ptr<Communicator>> Form(const std::shared_ptr<Process>& process,
                                           const Config& config, const std::stop_token& abort) {
  Timeline timeline("Establish");
  RINGLET_TRY(CheckArguments(config));
  RINGLET_TRY_ASSIGN(const std::vector<Invitation> invitations, ReadIds(*process, config));
  RINGLET_TRY(OpenFixedRoot(process, invitations.front(), config));

  // What this rank has and where it can be reached: reads the machine.
  RINGLET_TRY_ASSIGN(const Here here, LookAround(*process, config));
  process->ServeNear(here.cpus, here.numa);
  RINGLET_TRY_ASSIGN(Doors doors, OpenDoors(*process, invitations.front(), config, here));
  timeline.Reached(Phase::kLookAround);

  // Who the others are: check-in at the root, roster, standing control network.
  RINGLET_TRY_ASSIGN(std::unique_ptr<Control> control,
                     Join(process, config, invitations, here, doors, abort));
  timeline.Joined(control->milestones());
  RINGLET_TRY_ASSIGN(std::vector<Card> cards, control->Share(ReadCards(*control)));
  return Complete({process, config, invitations.front().credentials}, std::move(control),
                  std::move(cards), here, std::move(doors.data), std::move(timeline), abort);
}

}  // namespace

Result<std::unique_ptr<Communicator>> Establish(const std::shared_ptr<Process>& process,
                                                const Config& config,
                                                const std::stop_token& abort) {
  const std::uint64_t shortages = process->shortages();
  auto formed = Form(process, config, abort);
  if (formed.ok() || process->shortages() == shortages) return formed;
  // What failed in the end may say nothing of why: a peer that could not call, say, is missing.
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
  RINGLET_TRY_ASSIGN(const Here here, control->Share(LookAround(*origin.process, origin.config)));
  RINGLET_TRY_ASSIGN(auto door,
                     control->Share(OpenDataDoor(*origin.process, origin.credentials, here)));
  timeline.Reached(Phase::kLookAround);
  RINGLET_TRY_ASSIGN(std::vector<Card> cards,
                     control->Share(ExchangeCards(origin, *control, here, door)));
  timeline.Reached(Phase::kStanding);
  return Complete(std::move(origin), std::move(control), std::move(cards), here, std::move(door),
                  std::move(timeline), abort);
}

}  // namespace ringlet::comm
