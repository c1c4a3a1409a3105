#include "plan/channels/pattern_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ringlet::plan {

std::string_view NameOf(Pattern pattern) {
  switch (pattern) {
    case Pattern::kBalancedTree: return "BALANCED_TREE";
    case Pattern::kSplitTree: return "SPLIT_TREE";
    case Pattern::kTree: return "TREE";
    case Pattern::kRing: return "RING";
    case Pattern::kNvls: return "NVLS";
    case Pattern::kCollnetDirect: return "COLLNET_DIRECT";
  }
  return "?";
}

std::string_view NameOf(GraphId id) {
  switch (id) {
    case GraphId::kRing: return "ring";
    case GraphId::kTree: return "tree";
    case GraphId::kCollnetChain: return "collnet chain";
    case GraphId::kNvls: return "nvls";
    case GraphId::kCollnetDirect: return "collnet direct";
  }
  return "?";
}

std::string_view NameOf(StopReason reason) {
  switch (reason) {
    case StopReason::kPerfect: return "perfect";
    case StopReason::kSaturated: return "saturated";
    case StopReason::kBound: return "bound";
    case StopReason::kDivided: return "divided";
    case StopReason::kExhausted: return "exhausted";
    case StopReason::kBudget: return "budget";
    case StopReason::kFallback: return "fallback";
    case StopReason::kNotThere: return "not there";
  }
  return "?";
}

topology::Bandwidth PatternGraph::total() const {
  const bool nics = !channels.empty() && channels.front().entry.has_value();
  return topology::Times(nics ? std::min(intra, inter) : intra, channels.size());
}

std::array<PatternGraph, kGraphIds> GraphsWithoutChannels() {
  constexpr std::array kPatterns = {Pattern::kRing, Pattern::kBalancedTree, Pattern::kTree,
                                    Pattern::kNvls, Pattern::kCollnetDirect};
  std::array<PatternGraph, kGraphIds> graphs;
  for (std::size_t id = 0; id < kGraphIds; ++id) {
    graphs[id].id = static_cast<GraphId>(id);
    graphs[id].pattern = kPatterns[id];
  }
  return graphs;
}

std::string ToText(const PatternGraph& graph) {
  std::string text = fmt::format(
      "{} {}: {} channels of {}/{} MB/s, {}/{}, cross nic {}, {} of at most {} MB/s, {} after {} "
      "searches of {} steps\n",
      NameOf(graph.id), NameOf(graph.pattern), graph.channels.size(), graph.intra.mb_per_s,
      graph.inter.mb_per_s, NameOf(graph.type_intra), NameOf(graph.type_inter), graph.cross_nic,
      graph.total().mb_per_s, graph.bound.mb_per_s, NameOf(graph.stopped), graph.searches,
      graph.steps);
  for (std::size_t i = 0; i < graph.channels.size(); ++i) {
    const LocalChannel& channel = graph.channels[i];
    text += fmt::format("  {}: ", i);
    if (channel.entry) text += fmt::format("nic {} > ", *channel.entry);
    text += fmt::format("{}", fmt::join(channel.devices, " "));
    if (channel.exit) text += fmt::format(" > nic {}", *channel.exit);
    text += "\n";
  }
  return text;
}

std::string ToText(const HostPlan& plan) {
  std::string text;
  for (const PatternGraph& graph : plan.graphs)
    if (!graph.channels.empty()) text += ToText(graph);
  return text;
}

}  // namespace ringlet::plan
