// Formats channels as text. Prints channels with the same cycle of devices once. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

/// Channels with the same cycle of devices, wherever each begins. All heads of NVLS form one group.
struct ChannelGroup {
  std::vector<std::uint32_t> channels;  ///< channel numbers, ascending
};
/// Returns groups in the order of their first channels.
std::vector<ChannelGroup> FoldChannels(const plan::PatternGraph& graph);

/// Formats a channel: "0: NET mlx5_0 > GPU0 GPU3 > NET mlx5_1".
std::string ChannelText(const NodeView& node, const plan::LocalChannel& channel);

/// Returns a line for each group: "  0-7: GPU0 GPU1 GPU2 GPU3, x 8, from GPU0 (mlx5_0) x 4, ...".
std::string ChannelsText(const NodeView& node, const plan::PatternGraph& graph);

/// Formats numbers as ranges: "0-3,6".
std::string RangesText(const std::vector<std::uint32_t>& numbers);

}  // namespace ringlet::cli
