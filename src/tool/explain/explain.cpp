#include "tool/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "os/process/env.hpp"
#include "plan/channels/p2p_schedule.hpp"
#include "plan/gpus/gpu_plan.hpp"
#include "tool/explain/explain_collective.hpp"
#include "tool/explain/explain_json.hpp"
#include "tool/input/machine_folder.hpp"
#include "tool/plan/plan_channels.hpp"
#include "tool/plan/plan_report.hpp"
#include "tool/plan/plan_view.hpp"
#include "tool/text/plural.hpp"
#include "tool/text/suggest.hpp"
#include "topology/paths/locality.hpp"

namespace ringlet::cli {
namespace {

using plan::GraphId;
using plan::PatternGraph;
using plan::StepOutcome;
using topology::NodeIndex;
using topology::NodeKind;

constexpr std::size_t kSearchStepsToldMax = 12;  // steps of a pattern; the rest is counted
constexpr std::size_t kOwnSearchStepsToldMax = 5;

/// Counts paths by type and bandwidth: "28 of type NVL with 40 GB/s, 6 of type PHB with 12 GB/s".
std::string PathsText(const topology::Paths& paths, NodeKind from, NodeKind to) {
  std::map<std::pair<topology::PathType, topology::Bandwidth>, std::size_t> counts;
  for (const NodeIndex a : paths.Of(from))
    for (const NodeIndex b : paths.Of(to))
      if (a != b) ++counts[{paths.From(a, b).type, paths.From(a, b).bandwidth}];
  std::string text;
  for (const auto& [route, count] : counts)
    text += fmt::format("{}{} of type {} with {} GB/s", text.empty() ? "" : ", ", count,
                        NameOf(route.first), GigabytesText(route.second));
  return text;
}

std::string WhyText(plan::StopReason reason) {
  switch (reason) {
    case plan::StopReason::kPerfect: return "all requested channels fit";
    case plan::StopReason::kSaturated: return "the channels together are as fast as a GPU";
    case plan::StopReason::kBound: return "nothing more is possible";
    case plan::StopReason::kDivided: return "equal channels do not get closer to the bound";
    case plan::StopReason::kExhausted: return "everything on the list was tried";
    case plan::StopReason::kBudget:
      return "the budget of steps is used up; this is the best result";
    case plan::StopReason::kFallback: return "no channel fits, but one is required";
    case plan::StopReason::kNotThere: return "the machine lacks the parts that the search needs";
  }
  return "";
}

/// Describes the cost of NICs without GPUDirect.
std::string DirectText(const NodeView& node) {
  const std::vector<NodeIndex>& nets = node.paths.Of(NodeKind::kNet);
  const auto indirect = std::count_if(nets.begin(), nets.end(),
                                      [&](NodeIndex net) { return !node.graph->net(net).gdr; });
  if (indirect == 0) return "";
  return fmt::format(
      "{} of {} without GPUDirect: received data passes through the memory of the\nprocessor to a "
      "GPU. If NIC and GPU are below one PCIe switch, each byte crosses the link of\nthe switch to "
      "the processor twice: half of its bandwidth is left for channels.\n",
      indirect, Counted(nets.size(), "network port"));
}

std::string MachineText(const PlanView& view, const NodeView& node) {
  const topology::Paths& paths = node.paths;
  std::string text = fmt::format(
      "1. The machine\n\n{} has {}, {} and {}{}. A path connects a\nGPU to another device; its "
      "types are, from near to far: NVL over NVLink,\nPIX within a PCIe switch, PXB over several, "
      "PXN to a NIC through another GPU, PHB through\nthe processor, SYS from processor to "
      "processor.\n\n",
      view.kinds.front().title, Counted(node.gpus.size(), "GPU"),
      Counted(node.nets.size(), "network port"),
      Counted(paths.Of(NodeKind::kCpu).size(), "NUMA node"),
      paths.Of(NodeKind::kNvs).empty() ? "" : ", and its GPUs share NVSwitches");
  text += "  GPU to GPU: " + PathsText(paths, NodeKind::kGpu, NodeKind::kGpu) + "\n";
  if (!node.nets.empty())
    text += "  GPU to NIC: " + PathsText(paths, NodeKind::kGpu, NodeKind::kNet) + "\n";
  if (view.hosts > 1) text += DirectText(node);
  return text;
}

/// Returns "24 GB/s", or "45 GB/s within a host and 22 between hosts".
std::string SpeedText(const plan::SearchStep& search_step, bool nics) {
  if (!nics || search_step.intra_mb_per_s == search_step.inter_mb_per_s)
    return fmt::format("{} GB/s", GigabytesText({search_step.intra_mb_per_s}));
  return fmt::format("{} GB/s within a host and {} between hosts",
                     GigabytesText({search_step.intra_mb_per_s}),
                     GigabytesText({search_step.inter_mb_per_s}));
}

/// Describes why the search found no further channel.
std::string RefusalText(const StepOutcome& outcome, const plan::SearchTrace& search_trace) {
  const char* const whom = outcome.channels == 0 ? "" : "for one more, ";
  switch (outcome.refusal) {
    case plan::StepRefusal::kNone: return "";
    case plan::StepRefusal::kType: return fmt::format("; {}the path is longer than allowed", whom);
    case plan::StepRefusal::kNet:
      return fmt::format("; {}the NICs have too little bandwidth left", whom);
    case plan::StepRefusal::kLink:
      return outcome.link && *outcome.link < search_trace.links.size()
                 ? fmt::format("; {}{} is too full", whom, search_trace.links[*outcome.link])
                 : fmt::format("; {}a link is too full", whom);
  }
  return "";
}

/// Describes the limits of a step: path types, NICs, and the order of channels.
std::string StepLimitsText(const plan::SearchStep& search_step, bool nics) {
  std::string text = fmt::format("paths up to {}", NameOf(search_step.type_intra));
  if (nics) text += fmt::format(", and {} to NICs", NameOf(search_step.type_inter));
  if (search_step.cross_nic != 0) text += ", leaving through another NIC than entering";
  if (!search_step.same_channels) text += ", each channel in its own order";
  return text;
}

/// Consecutive steps with equal requests and equal results.
struct OutcomeRun {
  const StepOutcome* first = nullptr;
  std::size_t count = 1;
};

bool HasSameOutcome(const StepOutcome& a, const StepOutcome& b) {
  return !a.improved && !b.improved && a.channels == b.channels &&
         a.search_step.intra_mb_per_s == b.search_step.intra_mb_per_s &&
         a.search_step.inter_mb_per_s == b.search_step.inter_mb_per_s &&
         a.search_step.max_channels == b.search_step.max_channels;
}

/// \param own  true for Ringlet's steps, which request a number of channels; NCCL's request as many
///             as possible
std::string SearchStepText(const OutcomeRun& told, const plan::SearchTrace& search_trace, bool nics,
                           bool own) {
  const StepOutcome& outcome = *told.first;
  if (outcome.divided_of.mb_per_s > 0)
    return fmt::format(
        "  {} of {}{}; at most {} GB/s together: the best so far\n",
        Counted(outcome.channels, "channel"), SpeedText(outcome.search_step, nics),
        outcome.search_step.cross_nic != 0 ? ", leaving through another NIC than entering" : "",
        GigabytesText(outcome.divided_of));
  std::string text =
      own ? fmt::format("  {} of ", outcome.search_step.max_channels) : std::string("  ");
  text += SpeedText(outcome.search_step, nics);
  if (own && outcome.perfect)
    text += ": all fit";
  else
    text += outcome.channels == 0
                ? std::string(": none fits")
                : fmt::format(": {} fit{}", outcome.channels, outcome.channels == 1 ? "s" : "");
  if (outcome.improved) text += ", the best so far";
  if (told.count > 1)
    text += fmt::format(", in {} settings", told.count);
  else if (!own)
    text += fmt::format(" ({})", StepLimitsText(outcome.search_step, nics));
  if (outcome.budget_out) text += ", and the steps ran out";
  if (!outcome.perfect) text += RefusalText(outcome, search_trace);
  return text + "\n";
}

/// \param own  as above
std::string SearchStepsText(const plan::SearchTrace& search_trace, const PatternGraph& graph,
                            bool own) {
  const bool nics = !graph.channels.empty() && graph.channels.front().entry.has_value();
  std::vector<OutcomeRun> list;
  std::size_t repeated = 0;
  for (const StepOutcome& outcome : search_trace.search_steps) {
    if (outcome.repeated)
      ++repeated;
    else if (!list.empty() && HasSameOutcome(*list.back().first, outcome))
      ++list.back().count;
    else
      list.push_back({&outcome});
  }
  std::string text;
  std::size_t told = 0, untold = 0;
  for (const OutcomeRun& one : list) {
    if (told >= (own ? kOwnSearchStepsToldMax : kSearchStepsToldMax) && !one.first->improved) {
      untold += one.count;  // an improvement is always printed
    } else {
      text += SearchStepText(one, search_trace, nics, own);
      ++told;
    }
  }
  if (untold > 0) text += fmt::format("  and {} more, none of them better\n", untold);
  if (repeated > 0)
    text += fmt::format("  {} would have repeated an earlier step, and were skipped\n", repeated);
  return text;
}

/// Describes NCCL's search steps, and Ringlet's additional ones if they brought an improvement.
std::string SearchSummaryText(const NodeView& node, const PatternGraph& graph) {
  std::string text;
  std::size_t parts = 0, in_vain = 0;
  for (const plan::SearchTrace& search_trace : node.search_traces) {
    if (search_trace.id != graph.id) continue;
    const bool own = parts++ > 0;
    const bool better =
        std::any_of(search_trace.search_steps.begin(), search_trace.search_steps.end(),
                    [](const StepOutcome& one) { return one.improved; });
    if (own && !better) {
      in_vain += search_trace.search_steps.size();
      continue;
    }
    const bool divided =
        std::any_of(search_trace.search_steps.begin(), search_trace.search_steps.end(),
                    [](const auto& one) { return one.divided_of.mb_per_s > 0; });
    if (divided)
      text +=
          "Then by prices: fuller links cost more, and the search adds the cheapest channel until "
          "all\nchannels cost the same; it divides the used bandwidth into equal channels:\n";
    else if (own)
      text += "Then other numbers and widths of channels, up to the bound:\n";
    text += SearchStepsText(search_trace, graph, own);
  }
  if (in_vain > 0)
    text += fmt::format("{} other numbers and widths of channels did not improve the result.\n",
                        in_vain);
  return text;
}

/// \param trials  include the search steps
std::string SearchText(const NodeView& node, const plan::HostPlan& planned, bool trials) {
  std::string text =
      "\n2. The search within a host\n\nA channel is an order of all GPUs for data to pass. The "
      "search looks for a channel of some\nbandwidth, subtracts it from the links, and looks for "
      "another channel in the rest. If it finds\nnone, it allows longer paths, then less "
      "bandwidth.\n";
  for (const GraphId id : {GraphId::kRing, GraphId::kTree, GraphId::kNvls}) {
    const PatternGraph& graph = planned.of(id);
    if (graph.channels.empty()) continue;
    if (trials) {
      text += fmt::format("\n{}. First the steps of NCCL, in its order:\n", NameOf(graph.pattern));
      text += SearchSummaryText(node, graph);
    } else {
      text += fmt::format("\n{}. It took {} (--trials shows them).\n", NameOf(graph.pattern),
                          Counted(graph.searches, "search", "searches"));
    }
    text +=
        fmt::format("It ended because: {}. {} of {} GB/s, {} GB/s together", WhyText(graph.stopped),
                    Counted(graph.channels.size(), "channel"),
                    GigabytesText(graph.channels.front().entry ? std::min(graph.intra, graph.inter)
                                                               : graph.intra),
                    GigabytesText(graph.total()));
    text += graph.bound.mb_per_s == 0
                ? std::string(".\n")
                : fmt::format(": {:.1f} % of {} GB/s,\nwhich no plan can exceed on these links.\n",
                              PercentOfBound(graph), GigabytesText(graph.bound));
    text += ChannelsText(node, graph);
  }
  return text;
}

std::string FirstRanksText(const std::vector<Rank>& ranks) {
  constexpr std::size_t kMost = 40;
  std::string text;
  for (std::size_t i = 0; i < ranks.size() && i < kMost; ++i)
    text += fmt::format(" {}", Index(ranks[i]));
  return text + (ranks.size() > kMost ? " ..." : "");
}

std::string JoinText(const PlanView& view) {
  const plan::ChannelPlan& plan = view.joined.plan;
  std::string text = fmt::format(
      "\n3. All hosts\n\nEach channel is used twice, so that trees can use each link both ways: "
      "{}.\n",
      CountsText(plan.counts()));
  if (plan.node_count() == 1) return text + "There is one host, so rings close within it.\n";
  text += fmt::format(
      "A ring leaves each of {} nodes by the last GPU of its order and enters the next by the "
      "first.\n",
      plan.node_count());
  if (plan.options().exchange)
    text +=
        "On every other node, channels 2k and 2k + 1 are swapped, so that data arrives at a NIC of "
        "the\nsame number as the NIC that it left: traffic stays on its rail.\n";
  text += fmt::format("  ring of channel 0:{}\n", FirstRanksText(plan.Ring(0)));
  const plan::Neighbours root = plan.At(plan.Ring(0).front(), 0);
  text += fmt::format(
      "There are two trees over nodes: an inner node of one is a leaf of the other, so that both\n"
      "directions of every NIC are busy. Rank {} in channel 0: up {}, down",
      Index(plan.Ring(0).front()), root.up ? fmt::format("{}", Index(*root.up)) : "no rank");
  for (const auto& down : root.down)
    if (down) text += fmt::format(" {}", Index(*down));
  text += fmt::format(".\nA rank stores {} bytes of this plan.\n", plan.bytes());
  for (const plan::Shortfall& shortfall : view.joined.shortfalls) text += ToText(shortfall) + "\n";
  return text;
}

plan::P2pChannels P2pChannelsOf(const PlanView& view) {
  std::vector<const topology::Paths*> kinds;
  for (const NodeView& node : view.nodes) kinds.push_back(&node.paths);
  return plan::P2pChannelsFor(kinds, view.joined.plan);
}

/// Describes sends and receives between two ranks.
std::string RoundsText(const PlanView& view) {
  constexpr std::uint32_t kRoundsTold = 10;
  std::vector<std::uint32_t> node_ranks;
  for (const HostKind& kind : view.kinds)
    for (std::uint32_t host = 0; host < kind.hosts; ++host)
      for (std::size_t i = 0; i < kind.node_count; ++i)
        node_ranks.push_back(
            static_cast<std::uint32_t>(view.nodes[kind.first_node + i].gpus.size()));
  const plan::P2pSchedule schedule(node_ranks, P2pChannelsOf(view));
  std::string text = fmt::format(
      "Sends and receives have {}, {} of them for each peer. If all ranks send to all, "
      "they\n"
      "take turns: in each round each rank sends to one and receives from one. Rank 0 sends to",
      Counted(schedule.channels().total, "channel"), schedule.channels().of_a_peer);
  for (std::uint32_t round = 0; round < std::min(schedule.round_count(), kRoundsTold); ++round)
    text += fmt::format(" {}", Index(schedule.At(round, Rank{0}).to));
  return text + (schedule.round_count() > kRoundsTold ? " ...\n" : ".\n");
}

// Compares with NCCL's plan of the same machine.
std::string CompareText(const PlanView& mine, const PlanView& nccl) {
  std::string text = "\n4. And NCCL?\n\n";
  for (const GraphId id : {GraphId::kRing, GraphId::kTree, GraphId::kNvls}) {
    const PatternGraph& own = mine.classes.front().plan.of(id);
    const PatternGraph& its = nccl.classes.front().plan.of(id);
    if (own.channels.empty() && its.channels.empty()) continue;
    text +=
        fmt::format("  {}: NCCL 2.30 takes {}, {} GB/s together; Ringlet {}, {} GB/s.\n",
                    NameOf(id), Counted(its.channels.size(), "channel"), GigabytesText(its.total()),
                    own.channels.size(), GigabytesText(own.total()));
    if (own.total() <= its.total()) continue;
    for (const plan::SearchTrace& search_trace : nccl.nodes.front().search_traces) {
      if (search_trace.id != id) continue;
      const auto last =
          std::find_if(search_trace.search_steps.rbegin(), search_trace.search_steps.rend(),
                       [](const StepOutcome& outcome) { return outcome.improved; });
      if (last != search_trace.search_steps.rend())
        text +=
            "  NCCL's best search step:\n  " +
            SearchStepText({&*last}, search_trace, own.channels.front().entry.has_value(), false);
    }
    text += fmt::format("  It ended because: {}.\n", WhyText(its.stopped));
  }
  return text;
}

struct ExplainRequest {
  PlanRequest plan;
  bool json = false;
  bool trials = false;
};

std::string ExplainText(const PlanView& view, const PlanBounds& bounds, const PlanView* nccl,
                        bool trials) {
  const NodeView& node = view.nodes.front();
  std::string text = ToText(bounds) + "\n" + MachineText(view, node);
  if (view.kinds.front().node_count > 1)
    text += fmt::format(
        "\nThe GPUs do not all reach each other without the network: a host counts\n"
        "as {} nodes, and this is the first of them.\n",
        view.kinds.front().node_count);
  if (view.kinds.size() > 1)
    text += fmt::format("\nThere are {} kinds of hosts; this is the first of them.\n",
                        view.kinds.size());
  text += SearchText(node, view.classes.front().plan, trials) + JoinText(view) + RoundsText(view);
  return nccl == nullptr ? text : text + CompareText(view, *nccl);
}

/// \param operations  suggestions if the given word is not a file
int Run(const ExplainRequest& request, const std::vector<std::string>& operations) {
  const EnvMap environment = os::ReadEnvironment();
  const Result<PlanView> view = MakePlanView(request.plan, environment);
  if (!view.ok()) {
    Error error = view.error();
    if (!IsThere(request.plan.machine.source.file))
      error.message += DidYouMean(request.plan.machine.source.file, operations);
    return Fail("explain", error);
  }
  for (const std::string& missing : view->missing) PrintNote("explain", missing);
  std::optional<PlanView> nccl;
  if (view->policy == plan::Policy::kBest && request.plan.graph_file.empty()) {
    PlanRequest compat = request.plan;
    compat.policy = plan::Policy::kCompat;
    compat.machine.as_nccl = true;
    compat.graph_dump.clear();
    Result<PlanView> made = MakePlanView(compat, environment);
    if (!made.ok()) return Fail("explain", made.error());
    nccl = *std::move(made);
  }
  const PlanView* const other = nccl ? &*nccl : nullptr;
  const PlanBounds bounds = PlanBoundsOf(request.plan, environment, *view);
  fmt::print("{}", request.json ? ExplainJson(*view, bounds, other)
                                : ExplainText(*view, bounds, other, request.trials));
  return kExitDone;
}

}  // namespace

void AddExplain(CLI::App& tool, Action& chosen) {
  CLI::App* explain =
      tool.add_subcommand("explain", "Explain the plan of channels for a machine, step by step");
  // The parser fills it, and the action reads it later.
  const auto request = std::make_shared<ExplainRequest>();
  AddPlanRequest(*explain, request->plan);
  explain->add_flag("--trials", request->trials,
                    "Show the steps of the search, and the link that stopped each");
  explain->add_flag("--json", request->json, "One object: machine, search, plan, nccl");
  AddExplainCollective(*explain, chosen);
  explain->callback([explain, request, &chosen] {
    if (explain->get_subcommands().empty())
      chosen = [request, operations = CommandNames(*explain)] { return Run(*request, operations); };
  });
}

}  // namespace ringlet::cli
