#include "collective/algorithm/over_channels.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/value/prng.hpp"
#include "sim/interpreter/interpreter.hpp"

namespace ringlet::collective {
namespace {

constexpr CallKind kRingKinds[] = {CallKind::kAllReduce, CallKind::kBroadcast, CallKind::kReduce,
                                   CallKind::kAllGather, CallKind::kReduceScatter};

std::vector<Rank> AnyOrder(std::uint32_t ranks, Prng& prng) {
  std::vector<Rank> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Rank{i});
  for (std::size_t i = ranks; i > 1; --i) std::swap(order[i - 1], order[prng.Below(i)]);
  return order;
}

std::vector<std::vector<Rank>> AnyRings(std::uint32_t ranks, std::size_t channels, Prng& prng) {
  std::vector<std::vector<Rank>> rings;
  for (std::size_t i = 0; i < channels; ++i) rings.push_back(AnyOrder(ranks, prng));
  return rings;
}

/// Returns a random tree, indexed by rank.
std::vector<TreeMember> AnyTree(std::uint32_t ranks, Prng& prng) {
  const std::vector<Rank> order = AnyOrder(ranks, prng);
  std::vector<TreeMember> places(ranks);
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Rank above = order[prng.Below(i)];
    places[Index(order[i])].up = above;
    places[Index(above)].down.push_back(order[i]);
  }
  return places;
}

Status ProveAll(const Call& call, const std::vector<Schedule>& schedules, std::uint64_t seed) {
  for (const bool in_place : {false, true})
    for (const std::size_t capacity : {std::size_t{0}, std::size_t{3}})
      RINGLET_TRY(
          Prove(call, schedules, {.seed = seed, .link_capacity = capacity, .in_place = in_place}));
  return Ok();
}

TEST(OverRings, EveryKindIsProvenOnRingsOfAnyOrder) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Prng prng(seed);
    const auto ranks = static_cast<std::uint32_t>(1 + prng.Below(9));
    const auto rings = AnyRings(ranks, 1 + prng.Below(5), prng);
    for (const CallKind kind : kRingKinds) {
      const Call call{.kind = kind,
                      .count = 1 + prng.Below(40),
                      .root = Rank{static_cast<std::uint32_t>(prng.Below(ranks))}};
      std::vector<Schedule> schedules;
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        schedules.push_back(OverRings(call, {Rank{rank}, ranks}, rings));
      const Status status = ProveAll(call, schedules, seed);
      ASSERT_TRUE(status.ok()) << Name(kind) << " of " << call.count << " among " << ranks
                               << ", seed " << seed << ": " << status.error().message;
    }
  }
}

TEST(OverTrees, AllReducesAreProvenOnTreesOfAnyShape) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Prng prng(seed);
    const auto ranks = static_cast<std::uint32_t>(1 + prng.Below(12));
    std::vector<std::vector<TreeMember>> trees;
    for (std::size_t channel = 1 + prng.Below(4); channel > 0; --channel)
      trees.push_back(AnyTree(ranks, prng));
    const Call call{.kind = CallKind::kAllReduce, .count = 1 + prng.Below(30)};
    std::vector<Schedule> schedules;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::vector<TreeMember> places;
      for (const auto& tree : trees) places.push_back(tree[rank]);
      schedules.push_back(OverTrees(call, places));
    }
    const Status status = ProveAll(call, schedules, seed);
    ASSERT_TRUE(status.ok()) << call.count << " among " << ranks << ", seed " << seed << ": "
                             << status.error().message;
  }
}

/// Elements that a rank sends, by receiving rank and channel.
using ElementsByLink = std::map<std::pair<std::uint32_t, std::uint16_t>, std::size_t>;
ElementsByLink SentByChannel(const Schedule& schedule) {
  ElementsByLink sent;
  for (const Step& step : schedule.steps)
    if (step.kind == StepKind::kSend) sent[{Index(step.peer), step.channel}] += step.count;
  return sent;
}

TEST(OverRings, EachHopOfARingCarriesItsShareOfTheBytes) {
  const std::vector<std::vector<Rank>> rings = {{Rank{0}, Rank{1}, Rank{2}, Rank{3}},
                                                {Rank{3}, Rank{1}, Rank{0}, Rank{2}}};
  const Call call{.kind = CallKind::kAllReduce, .count = 64};
  // Expects 2 * (n - 1) / n of the 32 elements of each channel.
  EXPECT_EQ(SentByChannel(OverRings(call, {Rank{1}, 4}, rings)),
            (ElementsByLink{{{2, 0}, 48}, {{0, 1}, 48}}));
}

TEST(OverTrees, EachEdgeCarriesItsElementsUpAndDown) {
  const TreeMember inner{.up = Rank{7}, .down = {Rank{2}, Rank{3}}};
  const std::vector<TreeMember> places = {inner, {.up = Rank{2}, .down = {}}};
  EXPECT_EQ(SentByChannel(OverTrees({.kind = CallKind::kAllReduce, .count = 11}, places)),
            (ElementsByLink{{{7, 0}, 6}, {{2, 0}, 6}, {{3, 0}, 6}, {{2, 1}, 5}}));
}

ElementsByLink ByLink(const std::vector<RankLoad>& loads) {
  ElementsByLink sent;
  for (const RankLoad& load : loads) sent[{Index(load.peer), load.channel}] += load.count;
  return sent;
}

TEST(LoadsOverRings, MatchTheElementsThatSchedulesSend) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Prng prng(seed);
    const auto ranks = static_cast<std::uint32_t>(2 + prng.Below(7));
    const auto rings = AnyRings(ranks, 1 + prng.Below(5), prng);
    for (const CallKind kind : kRingKinds) {
      const Call call{.kind = kind,
                      .count = 1 + prng.Below(90),
                      .root = Rank{static_cast<std::uint32_t>(prng.Below(ranks))}};
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const CallPlace place{Rank{rank}, ranks};
        ElementsByLink sent = SentByChannel(OverRings(call, place, rings));
        std::erase_if(sent, [](const auto& one) { return one.second == 0; });
        ASSERT_EQ(ByLink(LoadsOverRings(call, place, rings)), sent)
            << Name(kind) << " of " << call.count << ", rank " << rank << ", seed " << seed;
      }
    }
  }
}

TEST(LoadsOverTrees, MatchTheElementsThatSchedulesSend) {
  const std::vector<TreeMember> places = {{.up = Rank{7}, .down = {Rank{2}, Rank{3}}},
                                          {.up = {}, .down = {Rank{7}}}};
  for (const std::size_t count : {1u, 2u, 11u}) {
    const Call call{.kind = CallKind::kAllReduce, .count = count};
    EXPECT_EQ(ByLink(LoadsOverTrees(call, places)), SentByChannel(OverTrees(call, places)));
  }
}

}  // namespace
}  // namespace ringlet::collective
