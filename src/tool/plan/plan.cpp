#include "tool/plan/plan.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "os/process/env.hpp"
#include "tool/plan/plan_compare.hpp"
#include "tool/plan/plan_draw.hpp"
#include "tool/plan/plan_memory.hpp"
#include "tool/plan/plan_report.hpp"
#include "tool/plan/plan_view.hpp"
#include "tool/plan/what_if.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/terminal.hpp"

namespace ringlet::cli {
namespace {

struct ShowRequest {
  PlanRequest plan;
  bool json = false;
  bool by_channels = false;
  std::vector<std::string> what_if;
  std::uint32_t ranks = 0;  ///< per host, in CPU memory; 0: on its GPUs
};

int RunMemory(const ShowRequest& request) {
  const auto planned = PlanMemory(request.plan, request.ranks, os::ReadEnvironment());
  if (!planned.ok()) return Fail("plan", planned.error());
  fmt::print("{}", request.json ? MemoryPlanJson(*planned) : MemoryPlanText(*planned));
  return kExitDone;
}

/// Returns true if no machine is named. Without GPUs, the plan is then for ranks in CPU memory.
bool IsThisMachine(const PlanRequest& request) {
  const TopoSource& source = request.machine.source;
  return source.file.empty() && source.root.empty() && source.synthetic.empty();
}

void PrintNotesOf(const PlanView& view) {
  for (const std::string& missing : view.missing) PrintNote("plan", missing);
  for (const HostKind& kind : view.kinds)
    if (kind.node_count > 1)
      PrintNote(
          "plan",
          fmt::format("the GPUs of {} cannot all reach each other: the host counts as {} nodes",
                      kind.title, kind.node_count));
}

/// Shows the plan beside the plan of the changed machine.
int RunWhatIf(const ShowRequest& request, const EnvMap& environment, const PlanView& without) {
  if (request.plan.machine.source.file == "-")
    return Fail("plan", {Code::kInvalidArgument,
                         "--what-if reads the machine twice, so it needs a file, not -"});
  PlanRequest changed = request.plan;
  changed.graph_dump.clear();
  changed.machine.edit = EditOf(request.what_if);
  const Result<PlanView> with = MakePlanView(changed, environment);
  if (!with.ok()) return Fail("plan", with.error());
  const PlanBounds before = PlanBoundsOf(request.plan, environment, without);
  const PlanBounds after = PlanBoundsOf(changed, environment, *with);
  const BoundedPlan both[] = {{without, before}, {*with, after}};
  if (request.json)
    fmt::print("{}", CompareJson(request.what_if, both[0], both[1]));
  else
    PrintFitted(CompareText(request.what_if, both[0], both[1]));
  return kExitDone;
}

int RunByChannels(const ShowRequest& request, const PlanView& view) {
  const std::vector<plan::HostPlan> plans = PlansByChannels(view);
  fmt::print("{}", request.json ? ByChannelsJson(view, plans) : ByChannelsText(view, plans));
  return kExitDone;
}

int Run(const ShowRequest& request) {
  if (request.ranks > 0) return RunMemory(request);
  const EnvMap environment = os::ReadEnvironment();
  const Result<PlanView> view = MakePlanView(request.plan, environment);
  if (!view.ok() && view.error().code == Code::kInvalidArgument && IsThisMachine(request.plan)) {
    PrintNote("plan", view.error().message + "; this plan is for ranks in CPU memory");
    return RunMemory(request);
  }
  if (!view.ok()) return Fail("plan", view.error());
  PrintNotesOf(*view);
  if (!request.what_if.empty()) return RunWhatIf(request, environment, *view);
  if (request.by_channels) return RunByChannels(request, *view);
  const PlanBounds bounds = PlanBoundsOf(request.plan, environment, *view);
  if (request.json)
    fmt::print("{}", JsonText(PlanJson(*view, &bounds)));
  else
    PrintFitted(PlanText(*view, &bounds));
  return kExitDone;
}

}  // namespace

void AddPlan(CLI::App& tool, Action& chosen) {
  CLI::App* plan =
      tool.add_subcommand("plan", "Show the channels that ranks of a machine would use");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<ShowRequest>();
  AddPlanRequest(*plan, request->plan);
  plan->add_option("--ranks", request->ranks,
                   "Plan for this number of CPU ranks per host, instead of GPUs");
  AddWhatIf(*plan, request->what_if);
  plan->add_flag("--by-channels", request->by_channels,
                 "Show the bandwidth for each number of channels, up to the last useful one");
  plan->add_flag("--json", request->json,
                 "One object: gpus or ranks, hosts, policy, ring, tree, nvls, channels, plan_ms, "
                 "plan_bytes, digest, gains; with --what-if: what_if, without, with; with "
                 "--by-channels: by_channels");
  AddPlanDraw(*plan, chosen);
  plan->callback([plan, request, &chosen] {
    if (plan->get_subcommands().empty()) chosen = [request] { return Run(*request); };
  });
}

}  // namespace ringlet::cli
