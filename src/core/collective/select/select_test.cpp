// Checks the choices from small to large. algorithm_test.cpp proves the algorithms.
#include "collective/select/select.hpp"

#include <gtest/gtest.h>

namespace ringlet::collective {
namespace {

Layout LayoutOf(std::uint32_t ranks, std::uint32_t hosts) {
  const Groups groups = EvenGroups(ranks, hosts);
  return {.order = InOrder(groups), .groups = groups};
}

Algorithm ChosenFor(CallKind kind, std::size_t bytes, std::uint32_t ranks, std::uint32_t hosts,
                    const Tuner& tuner = {}) {
  return Select({.kind = kind, .count = bytes, .type = DataType::kUint8}, LayoutOf(ranks, hosts),
                tuner);
}

TEST(Select, SmallMessagesTakeFewRoundsAndLargeOnesFewBytes) {
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 1), Algorithm::kDoubling);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 64 << 20, 8, 1), Algorithm::kHalving);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 256 << 20, 7, 1), Algorithm::kRing);
  EXPECT_EQ(ChosenFor(CallKind::kBroadcast, 8, 16, 1), Algorithm::kBinomial);
  EXPECT_NE(ChosenFor(CallKind::kBroadcast, 64 << 20, 16, 1), Algorithm::kBinomial);
  EXPECT_EQ(ChosenFor(CallKind::kAllToAll, 8, 64, 1), Algorithm::kBruck);
  EXPECT_EQ(ChosenFor(CallKind::kAllToAll, 1 << 20, 64, 1), Algorithm::kDirect);
  EXPECT_EQ(ChosenFor(CallKind::kBarrier, 1, 64, 1), Algorithm::kDissemination);
}

TEST(Select, SeveralHostsTakeHierarchicalAlgorithms) {
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 64 << 20, 32, 4),
            Hierarchical(Within::kLinks, Between::kRing));
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 64 << 10, 32, 4),
            Hierarchical(Within::kLinks, Between::kDoubling));
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 4),
            Hierarchical(Within::kLinks, Between::kDirect));
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 4, 4), Algorithm::kDirect);
  EXPECT_EQ(ChosenFor(CallKind::kBarrier, 1, 8, 4), Hierarchical(Within::kLinks, Between::kDirect));
  EXPECT_EQ(ChosenFor(CallKind::kBroadcast, 8, 8, 4),
            Hierarchical(Within::kLinks, Between::kDirect));
  EXPECT_EQ(ChosenFor(CallKind::kReduce, 8, 8, 4), Hierarchical(Within::kLinks, Between::kDirect));
  EXPECT_EQ(ChosenFor(CallKind::kBroadcast, 8 << 20, 8, 4), Algorithm::kRing);
  EXPECT_EQ(ChosenFor(CallKind::kReduce, 8 << 20, 8, 4), Algorithm::kRing);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 128, 64),
            Hierarchical(Within::kLinks, Between::kDoubling));
}

TEST(Select, ChoosesOnlyAllowedAlgorithms) {
  Tuner tuner;
  tuner.choice = ParseAlgorithmChoice("all_reduce:ring").value();
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 1, tuner), Algorithm::kRing);
  EXPECT_EQ(ChosenFor(CallKind::kBroadcast, 8, 16, 1, tuner), Algorithm::kBinomial);
  // A single host does not have a hierarchy, so all other algorithms are allowed.
  tuner.choice = ParseAlgorithmChoice("hierarchical").value();
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 1, tuner), Algorithm::kDoubling);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 2, tuner),
            Hierarchical(Within::kLinks, Between::kRing));
}

TEST(Select, ReportsTheKindsOnWhichAChoiceHasNoEffect) {
  const auto ignored = [](const char* choice, const Layout& layout) {
    return KindsWithIgnoredChoice(layout, ParseAlgorithmChoice(choice).value());
  };
  EXPECT_TRUE(ignored("", LayoutOf(4, 1)).empty());
  EXPECT_TRUE(ignored("broadcast:binomial", LayoutOf(4, 1)).empty());
  const std::vector<CallKind> broadcast = {CallKind::kBroadcast};
  EXPECT_EQ(ignored("broadcast:binomial", LayoutOnHost(4, 4096)), broadcast);
  EXPECT_EQ(ignored("broadcast:hierarchical", LayoutOf(4, 1)), broadcast);
  EXPECT_TRUE(ignored("broadcast:hierarchical", LayoutOf(4, 2)).empty());
}

TEST(Select, MeasuredAlgorithmsOverrideTheModelIfTheyCanRun) {
  Tuner tuner;
  tuner.measured = TuningTable({{CallKind::kAllReduce, 8, 1, 4096, Algorithm::kRing},
                                {CallKind::kAllGather, 6, 1, kAnyBytes, Algorithm::kDoubling}});
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 4096, 8, 1, tuner), Algorithm::kRing);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 4097, 8, 1, tuner),
            ChosenFor(CallKind::kAllReduce, 4097, 8, 1));
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 4, 1, tuner), Algorithm::kDoubling);
  // Doubling does not support six ranks.
  EXPECT_EQ(ChosenFor(CallKind::kAllGather, 8, 6, 1, tuner),
            ChosenFor(CallKind::kAllGather, 8, 6, 1));
  tuner.choice = ParseAlgorithmChoice("all_reduce:halving").value();
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 8, 1, tuner), Algorithm::kHalving);
}

/// If messages cost almost nothing, many at once are faster than few rounds of large ones.
TEST(Select, MeasuredLinksApplyIfNoAlgorithmWasMeasured) {
  Tuner tuner;
  tuner.measured = TuningTable(
      {}, {.local = LinkCost{.latency_ns = 1'000, .overhead_ns = 1, .mb_per_s = 5}, .remote = {}});
  EXPECT_EQ(ChosenFor(CallKind::kAllToAll, 8, 64, 1), Algorithm::kBruck);
  EXPECT_EQ(ChosenFor(CallKind::kAllToAll, 8, 64, 1, tuner), Algorithm::kDirect);
}

TEST(Select, EveryCallGetsAnAlgorithm) {
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
    if (CallKind(kind) == CallKind::kAllToAllV || CallKind(kind) == CallKind::kSendReceive)
      continue;
    for (const std::uint32_t ranks : {1u, 2u, 3u, 8u})
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 50})
        ChosenFor(CallKind(kind), bytes, ranks, ranks > 2 ? 2 : 1);
  }
}

// ---- through shared memory ----------------------------------------------------------------------

Layout OnHost(std::uint32_t ranks) {
  Layout layout = LayoutOf(ranks, 1);
  layout.post_bytes = 32 << 10;
  return layout;
}

Algorithm WayFor(CallKind kind, std::size_t bytes, const Tuner& tuner = {},
                 std::uint32_t ranks = 4) {
  const Call call{.kind = kind, .count = bytes, .type = DataType::kUint8};
  const Algorithm way = Select(call, OnHost(ranks), tuner);
  EXPECT_EQ(ScoreTable(OnHost(ranks), tuner).For(kind, bytes), way) << Name(kind) << " " << bytes;
  return way;
}

TEST(SelectOnHost, SmallMessagesAreOneShotAndLargeOnesAdaptive) {
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 8), Algorithm::kOneShot);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 6 << 10), Algorithm::kOneShot);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, (6 << 10) + 1), Algorithm::kAdaptive);
  EXPECT_EQ(WayFor(CallKind::kBarrier, 0), Algorithm::kOneShot);
  EXPECT_EQ(WayFor(CallKind::kAllToAll, 1536), Algorithm::kOneShot) << "four blocks";
  EXPECT_EQ(WayFor(CallKind::kAllToAll, 1537), Algorithm::kAdaptive);
  EXPECT_EQ(WayFor(CallKind::kScatter, 16 << 10), Algorithm::kAdaptive);
  EXPECT_EQ(WayFor(CallKind::kGather, 6 << 10), Algorithm::kOneShot);
}

TEST(SelectOnHost, OneShotOfManyRanksIsSmall) {
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 6 << 10, {}, 64), Algorithm::kOneShot);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 32, {}, 65), Algorithm::kOneShot);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 33, {}, 65), Algorithm::kSlices);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 6 << 10, {}, 65), Algorithm::kAdaptive);
  EXPECT_EQ(WayFor(CallKind::kBarrier, 0, {}, 65), Algorithm::kOneShot);
}

TEST(SelectOnHost, TheRootOfAMediumBroadcastDoesNotWait) {
  EXPECT_EQ(WayFor(CallKind::kBroadcast, 6 << 10), Algorithm::kOneShot);
  EXPECT_EQ(WayFor(CallKind::kBroadcast, (6 << 10) + 1), Algorithm::kSlices);
  EXPECT_EQ(WayFor(CallKind::kBroadcast, (64 << 10) - 1), Algorithm::kSlices);
  EXPECT_EQ(WayFor(CallKind::kBroadcast, 64 << 10), Algorithm::kAdaptive);
}

TEST(SelectOnHost, TakesSlicesBetweenOneShotAndAdaptive) {
  const Tuner tuner{.shm = {.one_shot_max = 1000, .adaptive_min = 2000}};
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 1000, tuner), Algorithm::kOneShot);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 1001, tuner), Algorithm::kSlices);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 1999, tuner), Algorithm::kSlices);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 2000, tuner), Algorithm::kAdaptive);
  EXPECT_EQ(WayFor(CallKind::kReduceScatter, 250, tuner), Algorithm::kOneShot);
  EXPECT_EQ(WayFor(CallKind::kReduceScatter, 499, tuner), Algorithm::kSlices);
  EXPECT_EQ(WayFor(CallKind::kReduceScatter, 500, tuner), Algorithm::kAdaptive);
  EXPECT_EQ(NextOf(Algorithm::kZeroCopy), Algorithm::kSlices);
  EXPECT_EQ(NextOf(Algorithm::kAdaptive), Algorithm::kSlices);
  EXPECT_EQ(NextOf(Algorithm::kFetch), Algorithm::kSlices);
  EXPECT_EQ(NextOf(Algorithm::kOneShot), std::nullopt);
}

TEST(SelectOnHost, ChoosesOnlyAllowedAndPossibleAlgorithms) {
  Tuner tuner;
  tuner.choice = ParseAlgorithmChoice("all_reduce:slices").value();
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 8, tuner), Algorithm::kSlices);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 1 << 20, tuner), Algorithm::kSlices);
  EXPECT_EQ(WayFor(CallKind::kBroadcast, 8, tuner), Algorithm::kOneShot);
  tuner.choice = ParseAlgorithmChoice("all_reduce:one_shot").value();
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 32 << 10, tuner), Algorithm::kOneShot);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, (32 << 10) + 1, tuner), Algorithm::kAdaptive)
      << "a post has no room for it";
  for (const char* const text : {"all_gather:^fetch", "all_gather:^adaptive"}) {
    tuner.choice = ParseAlgorithmChoice(text).value();
    EXPECT_EQ(WayFor(CallKind::kAllGather, 1 << 20, tuner), Algorithm::kSlices) << text;
  }
  tuner.choice = ParseAlgorithmChoice("all_gather:fetch").value();
  EXPECT_EQ(WayFor(CallKind::kAllGather, 1 << 20, tuner), Algorithm::kFetch);
  tuner.choice = ParseAlgorithmChoice("ring").value();  // does not affect shared memory
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 8, tuner), Algorithm::kOneShot);
}

TEST(SelectOnHost, TheTuningFileOverridesTheThresholds) {
  Tuner tuner;
  tuner.measured = TuningTable({{CallKind::kAllReduce, 4, 1, 1024, Algorithm::kSlices},
                                {CallKind::kAllReduce, 4, 1, 32 << 10, Algorithm::kOneShot},
                                {CallKind::kAllReduce, 4, 1, kAnyBytes, Algorithm::kRing},
                                {CallKind::kBroadcast, 4, 1, kAnyBytes, Algorithm::kFetch}});
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 1024, tuner), Algorithm::kSlices);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 32 << 10, tuner), Algorithm::kOneShot);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 33 << 10, tuner), Algorithm::kAdaptive);
  EXPECT_EQ(WayFor(CallKind::kAllReduce, 8, tuner, 3), Algorithm::kOneShot) << "other ranks";
  EXPECT_EQ(WayFor(CallKind::kBroadcast, 1, tuner), Algorithm::kFetch);
  EXPECT_EQ(ChosenFor(CallKind::kAllReduce, 8, 4, 1, tuner), Algorithm::kRing) << "over links";
}

TEST(SelectOnHost, TheScoreTableMatchesTheSelection) {
  Tuner tuner;
  tuner.measured = TuningTable({{CallKind::kAllGather, 4, 1, 100, Algorithm::kSlices}});
  const ScoreTable table(OnHost(4), tuner);
  const std::vector<Score> expected = {{100, Algorithm::kSlices, true},
                                       {6 << 10, Algorithm::kOneShot},
                                       {kAnyBytes, Algorithm::kAdaptive}};
  EXPECT_EQ(table.scores(CallKind::kAllGather), expected);
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
    if (CallKind(kind) == CallKind::kAllToAllV || CallKind(kind) == CallKind::kSendReceive)
      continue;
    for (std::size_t bytes = 0; bytes < 16 << 20; bytes = bytes * 5 / 4 + 1)
      WayFor(CallKind(kind), bytes, tuner);
  }
  EXPECT_EQ(table.For(CallKind::kAllToAllV, 0), Algorithm::kOneShot) << "its meeting has no data";
}

}  // namespace
}  // namespace ringlet::collective
