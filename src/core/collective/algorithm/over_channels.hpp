// Schedules over the channels of a plan, as in NCCL: each channel has its own ring or tree and a
// share of the elements.
//
// Pure. Every rank processes the channels in the same order, so messages between two ranks have one
// order. The sum of a channel is added up in the order of its ring or tree.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collective/call/call.hpp"
#include "collective/exec/schedule.hpp"
#include "plan/channels/channel_plan.hpp"

namespace ringlet::collective {

/// A rank in one tree.
struct TreeMember {
  std::optional<Rank> up = {};  ///< empty at the root
  std::vector<Rank> down = {};
  bool operator==(const TreeMember&) const = default;
};

/// Returns a rank's members in the trees of the first `channels` channels.
/// \pre  the plan contains the rank and the channels
std::vector<TreeMember> TreesOf(const plan::ChannelPlan& plan, Rank rank, std::uint32_t channels);

/// Sums travel up the tree and results back down: `count` elements over each edge per direction.
Schedule TreeAllReduce(const TreeMember& place, std::size_t count);

/// One ring per channel, each with every rank once.
using Rings = std::span<const std::vector<Rank>>;

/// Supports all-reduce, broadcast, reduce, all-gather and reduce-scatter. Each channel takes an
/// even share of the `call.count` elements of each block.
/// Cost  as in ring.hpp, per channel
Schedule OverRings(const Call& call, CallPlace place, Rings rings);

/// Supports all-reduce. \param places  of this rank, one per channel
Schedule OverTrees(const Call& call, std::span<const TreeMember> places);

/// The number of elements that a rank sends to another.
struct RankLoad {
  Rank peer{};
  std::uint16_t channel = 0;
  std::size_t count = 0;  ///< elements
  bool operator==(const RankLoad&) const = default;
};

/// Return the elements that a rank must send over each channel. They derive from the rings and
/// trees and not from a schedule, so that each can verify the other. Channels without elements are
/// omitted.
std::vector<RankLoad> LoadsOverRings(const Call& call, CallPlace place, Rings rings);
std::vector<RankLoad> LoadsOverTrees(const Call& call, std::span<const TreeMember> places);

}  // namespace ringlet::collective
