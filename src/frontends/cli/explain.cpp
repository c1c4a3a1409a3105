#include "frontends/cli/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "frontends/cli/explain_collective.hpp"
#include "frontends/cli/plan_report.hpp"
#include "frontends/cli/plan_view.hpp"
#include "os/env.hpp"

namespace ringlet::cli {
namespace {

using plan::GraphId;
using plan::PatternGraph;
using plan::TrialOutcome;
using topology::NodeIndex;
using topology::NodeKind;

constexpr std::size_t kTrialsToldMax = 12;  // of a pattern; the rest is counted

/// "28 of 40 GB/s NVL, 6 of 12 GB/s PHB": how often which path is found.
std::string PathsText(const topology::Paths& paths, NodeKind from, NodeKind to) {
  std::map<std::pair<topology::PathType, topology::Bandwidth>, std::size_t> counts;
  for (const NodeIndex a : paths.Of(from))
    for (const NodeIndex b : paths.Of(to))
      if (a != b) ++counts[{paths.From(a, b).type, paths.From(a, b).bandwidth}];
  std::string text;
  for (const auto& [way, count] : counts)
    text += fmt::format("{}{} of type {} with {} GB/s", text.empty() ? "" : ", ", count,
                        NameOf(way.first), GigabytesText(way.second));
  return text;
}

std::string MachineText(const PlanView& view, const NodeView& node) {
  const topology::Paths& paths = node.paths;
  std::string text = fmt::format(
      "1. The machine\n\n{} has {} GPUs, {} network ports and {} NUMA nodes{}. What a GPU can be\n"
      "reached by, and how fast, are its paths; their types are, from near to far: NVL over "
      "NVLink,\n"
      "PIX within a PCIe switch, PXB over several, PXN to a NIC by way of another GPU, PHB "
      "through\n"
      "the processor, SYS from processor to processor.\n\n",
      view.title, node.gpus.size(), node.nets.size(), paths.Of(NodeKind::kCpu).size(),
      paths.Of(NodeKind::kNvs).empty() ? "" : ", and its GPUs share NVSwitches");
  text += "  GPU to GPU: " + PathsText(paths, NodeKind::kGpu, NodeKind::kGpu) + "\n";
  if (!node.nets.empty())
    text += "  GPU to NIC: " + PathsText(paths, NodeKind::kGpu, NodeKind::kNet) + "\n";
  return text;
}

std::string TrialText(const TrialOutcome& outcome, const plan::Story& story, bool nics) {
  const plan::Trial& trial = outcome.trial;
  std::string text = fmt::format("  {} GB/s", GigabytesText({trial.intra_mb_per_s}));
  if (nics) text += fmt::format(" within, {} between", GigabytesText({trial.inter_mb_per_s}));
  text += fmt::format(", paths up to {}", NameOf(trial.type_intra));
  if (nics) text += fmt::format(" and {} to NICs", NameOf(trial.type_inter));
  if (trial.cross_nic != 0) text += ", out by another NIC than in";
  if (!trial.same_channels) text += ", each channel in its own order";
  text += outcome.channels == 0
              ? std::string(": none")
              : fmt::format(": {} channel{}", outcome.channels, outcome.channels == 1 ? "" : "s");
  if (outcome.improved) text += ", the best so far";
  if (outcome.budget_out) text += ", and the steps ran out";
  switch (outcome.refusal) {
    case plan::Refusal::kNone: break;
    case plan::Refusal::kType: text += "; a way is farther than allowed"; break;
    case plan::Refusal::kNet: text += "; NICs have too little left"; break;
    case plan::Refusal::kLink:
      text += outcome.link && *outcome.link < story.links.size()
                  ? fmt::format("; {} is full", story.links[*outcome.link])
                  : std::string("; a link is full");
      break;
  }
  return text + "\n";
}

std::string TrialsText(const plan::Story& story, const PatternGraph& graph) {
  const bool nics = !graph.channels.empty() && graph.channels.front().entry.has_value();
  std::string text;
  std::size_t told = 0, untold = 0, repeated = 0;
  for (const TrialOutcome& outcome : story.trials) {
    if (outcome.repeated) {
      ++repeated;
    } else if (told >= kTrialsToldMax && !outcome.improved) {
      ++untold;  // what is the best so far is always told
    } else {
      text += TrialText(outcome, story, nics);
      ++told;
    }
  }
  if (untold > 0) text += fmt::format("  and {} more, none of them better\n", untold);
  if (repeated > 0)
    text += fmt::format("  {} would have gone the same way as one before, and were left out\n",
                        repeated);
  return text;
}

std::string SearchText(const NodeView& node, const plan::HostPlan& planned) {
  std::string text =
      "\n2. The search within a host\n\n"
      "A channel is one order in which data passes all GPUs. The search asks for channels of some\n"
      "bandwidth, takes what they use from the links, and looks for another channel in what is "
      "left.\n"
      "When nothing is left it allows farther paths, then asks for less.\n";
  for (const GraphId id : {GraphId::kRing, GraphId::kTree, GraphId::kNvls}) {
    const PatternGraph& graph = planned.of(id);
    if (graph.channels.empty()) continue;
    text += fmt::format("\n{}, tried in this order:\n", NameOf(graph.pattern));
    for (const plan::Story& story : node.stories)
      if (story.id == id) text += TrialsText(story, graph);
    text +=
        fmt::format("It ended because: {}. {} channels of {} GB/s, {} GB/s together",
                    NameOf(graph.stopped), graph.channels.size(),
                    GigabytesText(graph.channels.front().entry ? std::min(graph.intra, graph.inter)
                                                               : graph.intra),
                    GigabytesText(graph.total()));
    text += graph.bound.mb_per_s == 0
                ? std::string(".\n")
                : fmt::format(": {:.1f} % of {} GB/s,\nwhich the links let nobody pass.\n",
                              PercentOfBound(graph), GigabytesText(graph.bound));
    text += fmt::format("  the first: {}\n", ChannelText(node, graph.channels.front()));
  }
  return text;
}

std::string RanksText(const std::vector<Rank>& ranks) {
  constexpr std::size_t kMost = 40;
  std::string text;
  for (std::size_t i = 0; i < ranks.size() && i < kMost; ++i)
    text += fmt::format(" {}", Index(ranks[i]));
  return text + (ranks.size() > kMost ? " ..." : "");
}

std::string JoinText(const PlanView& view) {
  const plan::ChannelPlan& plan = view.joined.plan;
  std::string text = fmt::format(
      "\n3. All hosts\n\nThe {} channels are used twice, so that trees can use each link both "
      "ways: "
      "{} channels.\n",
      plan.options().speeds.size(), plan.channel_count());
  if (plan.node_count() == 1) return text + "There is one host, so rings close within it.\n";
  text += fmt::format(
      "A ring leaves each of {} nodes by the last GPU of its order and enters the next by the "
      "first.\n",
      plan.node_count());
  if (plan.options().exchange)
    text +=
        "On every other node channels 2k and 2k + 1 change places, so that what leaves by a NIC\n"
        "arrives at the NIC of the same number: traffic stays on its rail.\n";
  text += fmt::format("  ring of channel 0:{}\n", RanksText(plan.Ring(0)));
  const plan::Neighbours root = plan.At(plan.Ring(0).front(), 0);
  text += fmt::format(
      "Trees are two, over nodes: whoever passes on in one is a leaf of the other, so that both\n"
      "directions of every NIC are busy. Rank {} in channel 0: up {}, down",
      Index(plan.Ring(0).front()), root.up ? fmt::format("{}", Index(*root.up)) : "nobody");
  for (const auto& down : root.down)
    if (down) text += fmt::format(" {}", Index(*down));
  text += fmt::format(".\nWhat a rank has to keep of all this: {} bytes.\n", plan.bytes());
  for (const plan::Shortfall& shortfall : view.joined.shortfalls) text += ToText(shortfall) + "\n";
  return text;
}

// What NCCL would have done with the same machine.
std::string CompareText(const PlanView& mine, const PlanView& nccl) {
  std::string text = "\n4. And NCCL?\n\n";
  for (const GraphId id : {GraphId::kRing, GraphId::kTree, GraphId::kNvls}) {
    const PatternGraph& own = mine.classes.front().plan.of(id);
    const PatternGraph& its = nccl.classes.front().plan.of(id);
    if (own.channels.empty() && its.channels.empty()) continue;
    text +=
        fmt::format("  {}: NCCL 2.30 takes {} channels, {} GB/s together; Ringlet {}, {} GB/s.\n",
                    NameOf(id), its.channels.size(), GigabytesText(its.total()),
                    own.channels.size(), GigabytesText(own.total()));
    if (own.total() <= its.total()) continue;
    for (const plan::Story& story : nccl.nodes.front().stories) {
      if (story.id != id) continue;
      const auto last = std::find_if(story.trials.rbegin(), story.trials.rend(),
                                     [](const TrialOutcome& outcome) { return outcome.improved; });
      if (last != story.trials.rend())
        text += "  NCCL's rules stop there because its best trial went:\n  " +
                TrialText(*last, story, own.channels.front().entry.has_value());
    }
    text += fmt::format("  It ended because: {}.\n", NameOf(its.stopped));
  }
  return text;
}

int Run(const PlanRequest& request) {
  const EnvMap environment = os::ReadEnvironment();
  const Result<PlanView> view = MakePlanView(request, environment);
  if (!view.ok()) return Fail("explain", view.error());
  for (const std::string& missing : view->missing) Tell("explain", missing);
  const NodeView& node = view->nodes.front();
  std::string text = MachineText(*view, node);
  if (view->nodes.size() > 1)
    text += fmt::format(
        "\nThe GPUs do not all reach each other without the network: a host counts\n"
        "as {} nodes, and this is the first of them.\n",
        view->nodes.size());
  text += SearchText(node, view->classes.front().plan) + JoinText(*view);
  if (request.policy == plan::Policy::kBest && request.graph_file.empty()) {
    PlanRequest compat = request;
    compat.policy = plan::Policy::kCompat;
    compat.graph_dump.clear();
    const Result<PlanView> nccl = MakePlanView(compat, environment);
    if (!nccl.ok()) return Fail("explain", nccl.error());
    text += CompareText(*view, *nccl);
  }
  fmt::print("{}", text);
  return 0;
}

}  // namespace

void AddExplain(CLI::App& tool, Action& chosen) {
  CLI::App* explain =
      tool.add_subcommand("explain", "Tell how a machine becomes channels, step by step");
  // Shared by the parser, which fills it, and the action, which reads it later.
  const auto request = std::make_shared<PlanRequest>();
  AddPlanRequest(*explain, *request);
  AddExplainCollective(*explain, chosen);
  explain->callback([explain, request, &chosen] {
    if (explain->get_subcommands().empty()) chosen = [request] { return Run(*request); };
  });
}

}  // namespace ringlet::cli
