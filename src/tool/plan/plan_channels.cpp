#include "tool/plan/plan_channels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ringlet::cli {
namespace {

using plan::LocalChannel;
using plan::Pattern;
using plan::PatternGraph;

constexpr std::size_t kShownGroupsMax = 64;

/// Returns true if channels are heads. A head is one device, which NVSwitch joins with all others.
bool HasHeads(const PatternGraph& graph) {
  return graph.pattern == Pattern::kNvls;
}

/// Returns equal results for channels with the same cycle.
std::vector<std::uint32_t> CycleOf(const PatternGraph& graph, const LocalChannel& channel) {
  if (HasHeads(graph)) return {};
  std::vector<std::uint32_t> cycle = channel.devices;
  std::ranges::rotate(cycle, std::ranges::min_element(cycle));
  return cycle;
}

/// Returns the first device of a channel and its NICs; "" if they do not matter.
std::string BeginText(const NodeView& node, const PatternGraph& graph,
                      const LocalChannel& channel) {
  if (!channel.entry && graph.pattern == Pattern::kRing) return "";
  std::string text = node.gpus[channel.devices.front()];
  if (!channel.entry) return text;
  text += " (" + node.nets[*channel.entry];
  if (channel.exit && channel.exit != channel.entry) text += " > " + node.nets[*channel.exit];
  return text + ")";
}

/// Returns ", from GPU0 (mlx5_0) x 2, GPU1 (mlx5_1)"; "" if all channels begin alike.
std::string BeginsText(const NodeView& node, const PatternGraph& graph, const ChannelGroup& group) {
  std::vector<std::pair<std::string, std::uint32_t>> begins;
  for (const std::uint32_t number : group.channels) {
    std::string begin = BeginText(node, graph, graph.channels[number]);
    const auto known = std::ranges::find(begins, begin, [](const auto& one) { return one.first; });
    if (known != begins.end())
      ++known->second;
    else
      begins.emplace_back(std::move(begin), 1);
  }
  if (begins.size() < 2) return "";
  std::string text;
  for (const auto& [begin, count] : begins) {
    text += (text.empty() ? ", from " : ", ") + begin;
    if (count > 1) text += fmt::format(" x {}", count);
  }
  return text;
}

std::string OrderText(const NodeView& node, const LocalChannel& channel) {
  std::string text;
  for (const std::uint32_t device : channel.devices)
    text += (text.empty() ? "" : " ") + node.gpus[device];
  return text;
}

}  // namespace

std::vector<ChannelGroup> FoldChannels(const PatternGraph& graph) {
  std::vector<ChannelGroup> groups;
  std::vector<std::pair<std::vector<std::uint32_t>, bool>> keys;
  for (std::uint32_t i = 0; i < graph.channels.size(); ++i) {
    const LocalChannel& channel = graph.channels[i];
    const std::pair key(CycleOf(graph, channel), channel.entry.has_value());
    const auto at = std::ranges::find(keys, key);
    const auto number = static_cast<std::size_t>(at - keys.begin());
    if (at == keys.end()) {
      keys.push_back(key);
      groups.emplace_back();
    }
    groups[number].channels.push_back(i);
  }
  return groups;
}

std::string ChannelText(const NodeView& node, const LocalChannel& channel) {
  std::string text;
  if (channel.entry) text += node.nets[*channel.entry] + " > ";
  text += OrderText(node, channel);
  if (channel.exit) text += " > " + node.nets[*channel.exit];
  return text;
}

std::string RangesText(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string ChannelsText(const NodeView& node, const PatternGraph& graph) {
  std::string text;
  std::size_t shown = 0;
  for (const ChannelGroup& group : FoldChannels(graph)) {
    if (shown++ == kShownGroupsMax) break;
    const LocalChannel& first = graph.channels[group.channels.front()];
    const std::string begins = BeginsText(node, graph, group);
    std::string what = begins.empty() ? ChannelText(node, first) : OrderText(node, first);
    if (HasHeads(graph) && group.channels.size() > 1) what = "a head each";
    text += fmt::format("  {:>2}: {}", RangesText(group.channels), what);
    if (group.channels.size() > 1) text += fmt::format(", x {}", group.channels.size());
    text += begins + "\n";
  }
  return text;
}

}  // namespace ringlet::cli
