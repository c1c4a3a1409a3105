// Channels as text: those that are one cycle of devices stand once. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

/// Channels of a graph that visit devices in one cycle, wherever each begins; all heads of NVLS.
struct ChannelGroup {
  std::vector<std::uint32_t> channels;  ///< numbers, ascending
};
/// In the order of the first channel of each.
std::vector<ChannelGroup> FoldChannels(const plan::PatternGraph& graph);

/// "0: NET mlx5_0 > GPU0 GPU3 > NET mlx5_1".
std::string ChannelText(const NodeView& node, const plan::LocalChannel& channel);

/// A line for each group: "  0-7: GPU0 GPU1 GPU2 GPU3, x 8, from GPU0 (mlx5_0) x 4, ...".
std::string ChannelsText(const NodeView& node, const plan::PatternGraph& graph);

/// "0-3,6".
std::string RangesText(const std::vector<std::uint32_t>& numbers);

}  // namespace ringlet::cli
