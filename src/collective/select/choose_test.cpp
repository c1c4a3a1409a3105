// What is chosen, from small to large. That all of it is right is proven in algorithm_test.cpp.
#include "collective/select/choose.hpp"

#include <gtest/gtest.h>

namespace ringlet::collective {
namespace {

Layout LayoutOf(std::uint32_t ranks, std::uint32_t hosts) {
  const Groups groups = EvenGroups(ranks, hosts);
  return {.order = InOrder(groups), .groups = groups};
}

Algorithm ChosenFor(CallKind kind, std::size_t bytes, std::uint32_t ranks, std::uint32_t hosts,
                    const Tuner& tuner = {}) {
  return Choose({.kind = kind, .count = bytes, .type = DataType::kUint8}, LayoutOf(ranks, hosts),
                tuner);
}

TEST(Choose, LittleTakesFewRoundsAndMuchTakesFewBytes) {
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 1), Algorithm::kDoubling);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 64 << 20, 8, 1), Algorithm::kHalving);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 256 << 20, 7, 1), Algorithm::kRing);
  EXPECT_EQ(ChosenFor(CallKind::kBroadcast, 8, 16, 1), Algorithm::kBinomial);
  EXPECT_NE(ChosenFor(CallKind::kBroadcast, 64 << 20, 16, 1), Algorithm::kBinomial);
  EXPECT_EQ(ChosenFor(CallKind::kAllToAll, 8, 64, 1), Algorithm::kBruck);
  EXPECT_EQ(ChosenFor(CallKind::kAllToAll, 1 << 20, 64, 1), Algorithm::kDirect);
  EXPECT_EQ(ChosenFor(CallKind::kBarrier, 1, 64, 1), Algorithm::kDissemination);
}

TEST(Choose, SeveralHostsShareTheWayOut) {
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 64 << 20, 32, 4), Algorithm::kHierarchical);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 64 << 10, 32, 4), Algorithm::kHierarchicalDoubling);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 4), Algorithm::kHierarchicalDirect);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 4, 4), Algorithm::kDirect);
  EXPECT_EQ(ChosenFor(CallKind::kBarrier, 1, 8, 4), Algorithm::kHierarchicalDirect);
  EXPECT_EQ(ChosenFor(CallKind::kBroadcast, 8, 8, 4), Algorithm::kHierarchicalDirect);
  EXPECT_EQ(ChosenFor(CallKind::kReduce, 8, 8, 4), Algorithm::kHierarchicalDirect);
  EXPECT_EQ(ChosenFor(CallKind::kBroadcast, 8 << 20, 8, 4), Algorithm::kRing);
  EXPECT_EQ(ChosenFor(CallKind::kReduce, 8 << 20, 8, 4), Algorithm::kRing);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 128, 64), Algorithm::kHierarchicalDoubling);
}

TEST(Choose, OnlyWhatIsAllowed) {
  Tuner tuner;
  tuner.choice = ParseAlgorithmChoice("all_reduce:ring").value();
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 1, tuner), Algorithm::kRing);
  EXPECT_EQ(ChosenFor(CallKind::kBroadcast, 8, 16, 1, tuner), Algorithm::kBinomial);
  // Without a second host there is no hierarchy: the rest may be used.
  tuner.choice = ParseAlgorithmChoice("hierarchical").value();
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 1, tuner), Algorithm::kDoubling);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 2, tuner), Algorithm::kHierarchical);
}

TEST(Choose, WhatWasMeasuredGoesBeforeTheModelWhereItCanBeDone) {
  Tuner tuner;
  tuner.measured = TuningTable({{CallKind::kAllReduce, 8, 1, 4096, Algorithm::kRing},
                                {CallKind::kAllGather, 6, 1, kAnyBytes, Algorithm::kDoubling}});
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 4096, 8, 1, tuner), Algorithm::kRing);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 4097, 8, 1, tuner),
            ChosenFor(CallKind::kAllReduce, 4097, 8, 1));
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 4, 1, tuner), Algorithm::kDoubling);
  // Six ranks cannot double.
  EXPECT_EQ(ChosenFor(CallKind::kAllGather, 8, 6, 1, tuner),
            ChosenFor(CallKind::kAllGather, 8, 6, 1));
  tuner.choice = ParseAlgorithmChoice("all_reduce:halving").value();
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 1, tuner), Algorithm::kHalving);
}

/// Where messages cost next to nothing, many at once are better than few rounds of large ones.
TEST(Choose, MeasuredLinksCountWhereNoChoiceWasMeasured) {
  Tuner tuner;
  tuner.measured = TuningTable(
      {}, {.local = LinkCost{.latency_ns = 1'000, .overhead_ns = 1, .mb_per_s = 5}, .remote = {}});
  EXPECT_EQ(ChosenFor(CallKind::kAllToAll, 8, 64, 1), Algorithm::kBruck);
  EXPECT_EQ(ChosenFor(CallKind::kAllToAll, 8, 64, 1, tuner), Algorithm::kDirect);
}

TEST(Choose, EveryCallHasSomething) {
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
    if (CallKind(kind) == CallKind::kAllToAllV || CallKind(kind) == CallKind::kSendReceive)
      continue;
    for (const std::uint32_t ranks : {1u, 2u, 3u, 8u})
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 50})
        ChosenFor(CallKind(kind), bytes, ranks, ranks > 2 ? 2 : 1);
  }
}

}  // namespace
}  // namespace ringlet::collective
