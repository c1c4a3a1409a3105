#include "comm/establish.hpp"

#include "comm/stages.hpp"
#include "plan/search.hpp"

namespace ringlet::comm {

Result<std::unique_ptr<Communicator>> Establish(const std::shared_ptr<Process>& process,
                                                const Config& config,
                                                const std::stop_token& abort) {
  RINGLET_TRY(CheckArguments(config));
  RINGLET_TRY_ASSIGN(const Invitation invitation, rendezvous::Decode(config.id));
  RINGLET_TRY(OpenFixedRoot(process, invitation, config));

  // What this rank has and where it can be reached: reads the machine.
  RINGLET_TRY_ASSIGN(const Here here, LookAround(*process, config));
  RINGLET_TRY_ASSIGN(Doors doors, OpenDoors(*process));

  // Who the others are: check-in at the root, roster, standing control network.
  RINGLET_TRY_ASSIGN(std::unique_ptr<Control> control,
                     Join(process, config, invitation, here, doors, abort));
  RINGLET_TRY_ASSIGN(Census census, control->Share(TakeCensus(*control, Rank{config.rank},
                                                              process->settings(), here.view)));

  // What to do with all that: pure functions of the census, the same on every rank.
  RINGLET_TRY_ASSIGN(const topology::Graph graph,
                     control->Share(topology::Build(census.hosts, census.places)));
  RINGLET_TRY_ASSIGN(plan::ChannelPlan plan, control->Share(plan::Search(graph, {})));
  RINGLET_TRY(control->Share(control->RequireEqual(plan.digest(), "channel plan")));

  // The data plane, then everybody at once.
  RINGLET_TRY_ASSIGN(auto links, control->Share(Connect(*process, config, invitation, plan, census,
                                                        *control, doors, abort)));
  RINGLET_TRY(control->Share(control->Barrier()));
  return Settle(process, config, invitation, std::move(control), std::move(census), std::move(plan),
                std::move(links));
}

}  // namespace ringlet::comm
