// Schedules over the channels of a plan, as NCCL runs them: each channel has a share of the
// elements, and its own ring or tree.
//
// Pure. A rank goes through channel after channel, and so do all others: what two ranks send each
// other has one order. Sums of a channel are added up in the order of its ring or tree.
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
  std::optional<Rank> up = {};  ///< nothing at the root
  std::vector<Rank> down = {};
  bool operator==(const TreeMember&) const = default;
};

/// A rank's places in the trees of the first `channels` channels.
/// \pre the plan has the rank and the channels
std::vector<TreeMember> TreesOf(const plan::ChannelPlan& plan, Rank rank, std::uint32_t channels);

/// Sums go up the tree and back down: count elements over each of its edges both ways.
Schedule TreeAllReduce(const TreeMember& place, std::size_t count);

/// The rings of so many channels, each with every rank once.
using Rings = std::span<const std::vector<Rank>>;

/// Of all-reduce, broadcast, reduce, all-gather and reduce-scatter. Each channel takes an even
/// share of `call.count` elements: those of the user's blocks, where each rank has one. Cost  as
/// ring.hpp has it for each channel
Schedule OverRings(const Call& call, CallPlace place, Rings rings);

/// Of all-reduce. \param places  of this rank, one for each channel
Schedule OverTrees(const Call& call, std::span<const TreeMember> places);

/// The elements from one rank to another.
struct RankLoad {
  Rank peer{};
  std::uint16_t channel = 0;
  std::size_t count = 0;  ///< elements
  bool operator==(const RankLoad&) const = default;
};

/// The elements that a rank has to send over each channel, by what rings and trees are: not read
/// off a schedule, so that one can be held against the other. Channels without elements are left
/// out.
std::vector<RankLoad> LoadsOverRings(const Call& call, CallPlace place, Rings rings);
std::vector<RankLoad> LoadsOverTrees(const Call& call, std::span<const TreeMember> places);

}  // namespace ringlet::collective
