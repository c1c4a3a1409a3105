#include "collective/dataflow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/ring.hpp"

namespace ringlet::collective {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Step SendTo(std::uint32_t peer, Range range) {
  return {.kind = StepKind::kSend, .peer = Rank{peer}, .range = range};
}
Step ReceiveFrom(std::uint32_t peer, Range range) {
  return {.kind = StepKind::kReceive, .peer = Rank{peer}, .range = range};
}
Step SumFrom(std::uint32_t peer, Range range) {
  return {.kind = StepKind::kReceiveSum, .peer = Rank{peer}, .range = range};
}

TEST(Dataflow, ASendFollowsTheReceiveOfItsRange) {
  const Flow flow = Derive({.count = 8, .steps = {SumFrom(0, {0, 8}), SendTo(1, {0, 8})}});
  ASSERT_EQ(flow.steps.size(), 2u);
  EXPECT_THAT(flow.DependenciesOf(flow.steps[1]), ElementsAre(0u));
  EXPECT_EQ(flow.steps[0].source, Source::kInput);
  EXPECT_EQ(flow.steps[1].source, Source::kOutput);
  EXPECT_EQ(Frontier(flow, flow.steps[1], std::vector<std::size_t>{3, 0}), 3u);
  EXPECT_EQ(Frontier(flow, flow.steps[1], std::vector<std::size_t>{8, 0}), 8u);
}

TEST(Dataflow, AReceiveWaitsForTheSendOfWhatItOverwrites) {
  const Flow flow = Derive({.count = 8, .steps = {SendTo(1, {0, 8}), ReceiveFrom(0, {4, 4})}});
  EXPECT_THAT(flow.DependenciesOf(flow.steps[1]), ElementsAre(0u));
  EXPECT_EQ(Frontier(flow, flow.steps[1], std::vector<std::size_t>{2, 0}), 0u);
  EXPECT_EQ(Frontier(flow, flow.steps[1], std::vector<std::size_t>{5, 0}), 1u);
  EXPECT_EQ(Frontier(flow, flow.steps[1], std::vector<std::size_t>{8, 0}), 4u);
}

TEST(Dataflow, OnlySharedElementsAreWaitedFor) {
  const Flow flow = Derive({.count = 10, .steps = {ReceiveFrom(0, {4, 2}), SendTo(1, {0, 10})}});
  // The send is cut: the middle was received, the rest is input.
  ASSERT_EQ(flow.steps.size(), 4u);
  EXPECT_EQ(flow.steps[1].range, (Range{0, 4}));
  EXPECT_THAT(flow.DependenciesOf(flow.steps[1]), IsEmpty());
  EXPECT_EQ(flow.steps[2].range, (Range{4, 2}));
  EXPECT_EQ(flow.steps[2].source, Source::kOutput);
  EXPECT_THAT(flow.DependenciesOf(flow.steps[2]), ElementsAre(0u));
  EXPECT_EQ(flow.steps[3].range, (Range{6, 4}));
  EXPECT_EQ(flow.steps[3].source, Source::kInput);
  EXPECT_THAT(flow.untouched, ElementsAre(Range{0, 4}, Range{6, 4}));
}

TEST(Dataflow, StepsOfOneLaneNeedNoDependency) {
  const Flow flow = Derive({.count = 4, .steps = {ReceiveFrom(0, {0, 4}), SumFrom(0, {0, 4})}});
  EXPECT_THAT(flow.DependenciesOf(flow.steps[1]), IsEmpty());
  ASSERT_EQ(flow.lanes.size(), 1u);
  EXPECT_THAT(flow.lanes[0].steps, ElementsAre(0u, 1u));
}

TEST(Dataflow, AWriteAwaitsEveryReaderSinceTheLastWrite) {
  const Flow flow = Derive({.count = 4,
                            .steps = {ReceiveFrom(0, {0, 4}), SendTo(1, {0, 2}), SendTo(2, {2, 2}),
                                      ReceiveFrom(3, {0, 4})}});
  EXPECT_THAT(flow.DependenciesOf(flow.steps[3]), ElementsAre(1u, 2u));
}

TEST(Dataflow, AWriteAwaitsTheWriteBeforeIt) {
  const Flow flow = Derive({.count = 4, .steps = {ReceiveFrom(0, {0, 3}), SumFrom(1, {2, 2})}});
  // The sum is cut: its first element has been written, its second is input.
  ASSERT_EQ(flow.steps.size(), 3u);
  EXPECT_THAT(flow.DependenciesOf(flow.steps[1]), ElementsAre(0u));
  EXPECT_THAT(flow.DependenciesOf(flow.steps[2]), IsEmpty());
}

TEST(Dataflow, ReadersBeforeTheLastWriteAreNotAwaitedAgain) {
  const Flow flow = Derive(
      {.count = 4, .steps = {SendTo(1, {0, 4}), ReceiveFrom(0, {0, 4}), ReceiveFrom(2, {0, 4})}});
  EXPECT_THAT(flow.DependenciesOf(flow.steps[1]), ElementsAre(0u));
  EXPECT_THAT(flow.DependenciesOf(flow.steps[2]), ElementsAre(1u));
}

TEST(Dataflow, DifferentChannelsAreDifferentLanes) {
  Step other = SendTo(1, {2, 2});
  other.channel = 1;
  const Flow flow = Derive({.count = 4, .steps = {SendTo(1, {0, 2}), other}});
  EXPECT_EQ(flow.lanes.size(), 2u);
}

TEST(Dataflow, WithoutStepsEverythingIsKept) {
  EXPECT_THAT(Derive({.count = 5, .steps = {}}).untouched, ElementsAre(Range{0, 5}));
  EXPECT_THAT(Derive({.count = 0, .steps = {}}).untouched, IsEmpty());
  EXPECT_TRUE(Derive({.count = 5, .steps = {SendTo(1, {3, 0})}}).steps.empty());
}

TEST(Dataflow, ARingNeedsNoCopyAndPipelinesEveryRound) {
  const Rank order[] = {Rank{0}, Rank{1}, Rank{2}, Rank{3}};
  const Flow flow = Derive(RingAllReduce(order, Rank{1}, 17));
  EXPECT_THAT(flow.untouched, IsEmpty());
  EXPECT_EQ(flow.lanes.size(), 2u);
  ASSERT_EQ(flow.steps.size(), 12u);
  for (const FlowStep& step : flow.steps) {
    // The first send and the first partial sum of a chunk are the only readers of the input.
    const bool first_round = step.origin < 2 || step.kind == StepKind::kReceiveSum;
    if (step.kind != StepKind::kReceive) {
      EXPECT_EQ(step.source == Source::kInput, first_round) << step.origin;
    }
    EXPECT_LE(flow.DependenciesOf(step).size(), 1u);
  }
}

}  // namespace
}  // namespace ringlet::collective
