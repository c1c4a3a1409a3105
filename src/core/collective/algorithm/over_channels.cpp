#include "collective/algorithm/over_channels.hpp"

#include <algorithm>
#include <utility>

#include "collective/algorithm/algorithm.hpp"
#include "collective/algorithm/ring.hpp"

namespace ringlet::collective {
namespace {

Schedule OverRing(const Call& call, CallPlace place, const std::vector<Rank>& ring,
                  std::size_t count) {
  Call share = call;
  share.count = count;
  return Build(Algorithm::kRing, share, place, {.order = ring, .groups = {}});
}

/// Appends the schedule of each channel to the joint schedule.
class ChannelJoiner {
 public:
  ChannelJoiner(Schedule& all, std::size_t block_count) : all_(all), block_count_(block_count) {}

  /// \param share  the channel's share of each block of the user
  void Add(const Schedule& of_channel, Range share, std::uint16_t channel) {
    const std::size_t scratch_begin = std::exchange(scratch_, scratch_ + of_channel.scratch_count);
    all_.scratch_count = scratch_;
    for (Step step : of_channel.steps) {
      step.channel = channel;
      if (step.count == 0) {
        step.from.begin = step.to.begin = 0;
      } else {
        Move(step.from, share, scratch_begin);
        Move(step.to, share, scratch_begin);
      }
      all_.steps.push_back(step);
    }
  }

 private:
  // No step crosses the end of a block.
  void Move(Place& place, Range share, std::size_t scratch_begin) const {
    if (place.buffer == Buffer::kScratch) {
      place.begin += scratch_begin;
      return;
    }
    const std::size_t block = place.begin / share.count;
    place.begin = block * block_count_ + share.begin + place.begin % share.count;
  }

  Schedule& all_;
  std::size_t block_count_;
  std::size_t scratch_ = 0;
};

/// \param make  (channel, elements) -> the schedule of a channel
template <class Make>
Schedule Joined(const Call& call, CallPlace place, std::size_t channels, const Make& make) {
  Schedule all{.input_count = InputCount(call, place), .output_count = OutputCount(call, place)};
  ChannelJoiner joiner(all, call.count);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const Range share = EvenChunk(call.count, channels, channel);
    if (share.count > 0)
      joiner.Add(make(channel, share.count), share, static_cast<std::uint16_t>(channel));
  }
  return all;
}

std::size_t PlaceInRing(const std::vector<Rank>& ring, Rank rank) {
  return static_cast<std::size_t>(std::ranges::find(ring, rank) - ring.begin());
}
Rank AfterInRing(const std::vector<Rank>& ring, std::size_t place, std::size_t hops) {
  return ring[(place + hops) % ring.size()];
}

/// Returns the number of elements that a rank sends in a ring, for `count` elements in the channel.
std::size_t SentInRing(const Call& call, std::size_t count, const std::vector<Rank>& ring,
                       Rank self) {
  const std::size_t ranks = ring.size(), place = PlaceInRing(ring, self);
  if (ranks == 1) return 0;
  if (call.kind == CallKind::kBroadcast)
    return AfterInRing(ring, place, 1) == call.root ? 0 : count;
  if (call.kind == CallKind::kReduce) return self == call.root ? 0 : count;
  if (call.kind == CallKind::kAllGather || call.kind == CallKind::kReduceScatter)
    return (ranks - 1) * count;
  // All-reduce: the rank sends partial sums of all chunks except the one that its successor begins,
  // and all complete chunks except the one after that.
  return 2 * count - EvenChunk(count, ranks, (place + 1) % ranks).count -
         EvenChunk(count, ranks, (place + 2) % ranks).count;
}

}  // namespace

Schedule TreeAllReduce(const TreeMember& place, std::size_t count) {
  Schedule schedule{.input_count = count, .output_count = count};
  Place sum = Input();
  for (const Rank child : place.down) {
    schedule.ReceiveReduce(child, sum, Output(), count);
    sum = Output();
  }
  if (!place.up) {
    if (place.down.empty()) schedule.Copy(Input(), Output(), count);
    schedule.steps.back().finishes = true;
  } else {
    schedule.Send(*place.up, sum, count);
    schedule.Receive(*place.up, Output(), count);
  }
  for (const Rank child : place.down) schedule.Send(child, Output(), count);
  return schedule;
}

Schedule OverRings(const Call& call, CallPlace place, Rings rings) {
  return Joined(call, place, rings.size(), [&](std::size_t channel, std::size_t count) {
    return OverRing(call, place, rings[channel], count);
  });
}

Schedule OverTrees(const Call& call, std::span<const TreeMember> places) {
  // The element count of an all-reduce is the same on every rank.
  return Joined(call, {}, places.size(), [&](std::size_t channel, std::size_t count) {
    return TreeAllReduce(places[channel], count);
  });
}

std::vector<TreeMember> TreesOf(const plan::ChannelPlan& plan, Rank rank, std::uint32_t channels) {
  std::vector<TreeMember> places;
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    const plan::Neighbours near = plan.At(rank, channel);
    TreeMember& place = places.emplace_back(TreeMember{near.up, {}});
    for (const auto& down : near.down)
      if (down) place.down.push_back(*down);
  }
  return places;
}

std::vector<RankLoad> LoadsOverRings(const Call& call, CallPlace place, Rings rings) {
  std::vector<RankLoad> loads;
  for (std::size_t channel = 0; channel < rings.size(); ++channel) {
    const std::vector<Rank>& ring = rings[channel];
    const std::size_t count =
        SentInRing(call, EvenChunk(call.count, rings.size(), channel).count, ring, place.self);
    const Rank next = AfterInRing(ring, PlaceInRing(ring, place.self), 1);
    if (count > 0) loads.push_back({next, static_cast<std::uint16_t>(channel), count});
  }
  return loads;
}

std::vector<RankLoad> LoadsOverTrees(const Call& call, std::span<const TreeMember> places) {
  std::vector<RankLoad> loads;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t count = EvenChunk(call.count, places.size(), i).count;
    const auto channel = static_cast<std::uint16_t>(i);
    if (count == 0) continue;
    if (places[i].up) loads.push_back({*places[i].up, channel, count});
    for (const Rank child : places[i].down) loads.push_back({child, channel, count});
  }
  return loads;
}

}  // namespace ringlet::collective
