#include "collective/exec/dataflow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collective/algorithm/ring.hpp"

namespace ringlet::collective {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kCount = 10;

Schedule Empty() {
  return {.input_count = kCount, .output_count = kCount, .scratch_count = kCount};
}

std::size_t FrontierOfLast(const Flow& flow, std::vector<std::size_t> done) {
  done.resize(flow.steps.size());
  return Frontier(flow, flow.steps.back(), done);
}

TEST(Dataflow, ASendFollowsTheReceiveOfItsElements) {
  Schedule schedule = Empty();
  schedule.ReceiveReduce(Rank{0}, Input(), Output(), 8);
  schedule.Send(Rank{1}, Output(), 8);
  const Flow flow = Derive(schedule);
  ASSERT_EQ(flow.steps.size(), 2u);
  EXPECT_THAT(flow.DependenciesOf(flow.steps[1]), ElementsAre(Dependency{0, 0}));
  EXPECT_EQ(FrontierOfLast(flow, {3}), 3u);
  EXPECT_EQ(FrontierOfLast(flow, {8}), 8u);
}

TEST(Dataflow, AReceiveWaitsForTheSendOfOverwrittenElements) {
  Schedule schedule = Empty();
  schedule.Send(Rank{1}, Scratch(), 8);
  schedule.Receive(Rank{0}, Scratch(4), 4);
  const Flow flow = Derive(schedule);
  EXPECT_THAT(flow.DependenciesOf(flow.steps[1]), ElementsAre(Dependency{0, -4}));
  EXPECT_EQ(FrontierOfLast(flow, {2}), 0u);
  EXPECT_EQ(FrontierOfLast(flow, {5}), 1u);
  EXPECT_EQ(FrontierOfLast(flow, {8}), 4u);
}

TEST(Dataflow, StepsWaitOnlyForSharedElements) {
  Schedule schedule = Empty();
  schedule.Receive(Rank{0}, Output(4), 2);
  schedule.Send(Rank{1}, Output(), 10);
  const Flow flow = Derive(schedule);
  EXPECT_EQ(FrontierOfLast(flow, {0}), 4u);
  EXPECT_EQ(FrontierOfLast(flow, {1}), 5u);
  EXPECT_EQ(FrontierOfLast(flow, {2}), 10u);
}

TEST(Dataflow, DependenciesFollowCopiedElements) {
  Schedule schedule = Empty();
  schedule.Receive(Rank{0}, Scratch(6), 4);
  schedule.Copy(Scratch(6), Output(1), 4);
  schedule.Send(Rank{1}, Output(), 5);
  const Flow flow = Derive(schedule);
  EXPECT_THAT(flow.DependenciesOf(flow.steps[1]), ElementsAre(Dependency{0, 0}));
  EXPECT_EQ(FrontierOfLast(flow, {4, 2}), 3u);
}

TEST(Dataflow, BuffersOverlapOnlyIfTheCallerStatesIt) {
  Schedule schedule = Empty();
  schedule.Send(Rank{1}, Input(2), 4);
  schedule.Receive(Rank{0}, Output(), 4);
  EXPECT_THAT(Derive(schedule).dependencies, IsEmpty());
  // The output begins at element 3 of the input, so its first element is the second of the send.
  EXPECT_THAT(Derive(schedule, 3).dependencies, ElementsAre(Dependency{0, -1}));
  // The output begins before the input.
  EXPECT_THAT(Derive(schedule, -1).dependencies, ElementsAre(Dependency{0, 3}));
}

TEST(Dataflow, DropsAnInPlaceCopyUnlessItFinishes) {
  Schedule schedule = Empty();
  schedule.Copy(Input(), Output(), kCount);
  EXPECT_EQ(Derive(schedule).steps.size(), 1u);
  EXPECT_THAT(Derive(schedule, 0).steps, IsEmpty());
  schedule.steps.back().finishes = true;
  EXPECT_EQ(Derive(schedule, 0).steps.size(), 1u);
}

TEST(Dataflow, StepsOfASingleLaneNeedNoDependency) {
  Schedule schedule = Empty();
  schedule.Receive(Rank{0}, Output(), 4);
  schedule.ReceiveReduce(Rank{0}, Output(), Output(), 4);
  const Flow flow = Derive(schedule);
  EXPECT_THAT(flow.DependenciesOf(flow.steps[1]), IsEmpty());
  ASSERT_EQ(flow.lanes.size(), 1u);
  EXPECT_THAT(flow.lanes[0].steps, ElementsAre(0u, 1u));
}

TEST(Dataflow, AWriteAwaitsEveryReaderSinceTheLastWrite) {
  Schedule schedule = Empty();
  schedule.Receive(Rank{0}, Output(), 4);
  schedule.Send(Rank{1}, Output(), 2);
  schedule.Send(Rank{2}, Output(2), 2);
  schedule.Receive(Rank{3}, Output(), 4);
  const Flow flow = Derive(schedule);
  EXPECT_THAT(flow.DependenciesOf(flow.steps[3]), ElementsAre(Dependency{1, 0}, Dependency{2, 2}));
}

TEST(Dataflow, AWriteDoesNotAwaitReadersBeforeTheLastWrite) {
  Schedule schedule = Empty();
  schedule.Send(Rank{1}, Scratch(), 4);
  schedule.Receive(Rank{0}, Scratch(), 4);
  schedule.Receive(Rank{2}, Scratch(), 4);
  const Flow flow = Derive(schedule);
  EXPECT_THAT(flow.DependenciesOf(flow.steps[1]), ElementsAre(Dependency{0, 0}));
  EXPECT_THAT(flow.DependenciesOf(flow.steps[2]), ElementsAre(Dependency{1, 0}));
}

TEST(Dataflow, ChannelsShareTheLinkOfTwoRanks) {
  Schedule schedule = Empty();
  schedule.Send(Rank{1}, Input(), 2);
  schedule.Send(Rank{1}, Input(2), 2).channel = 1;
  EXPECT_EQ(Derive(schedule).lanes.size(), 1u);
}

TEST(Dataflow, DropsAnEmptyStepButKeepsItsLane) {
  Schedule schedule = Empty();
  schedule.Send(Rank{1}, Input(3), 0);
  const Flow flow = Derive(schedule);
  EXPECT_THAT(flow.steps, IsEmpty());
  EXPECT_EQ(flow.lanes.size(), 1u);
}

TEST(Dataflow, ARingPipelinesEveryRound) {
  const Rank order[] = {Rank{0}, Rank{1}, Rank{2}, Rank{3}};
  const Flow flow = Derive(RingAllReduce(order, Rank{1}, 17));
  EXPECT_EQ(flow.lanes.size(), 2u);
  ASSERT_EQ(flow.steps.size(), 12u);
  for (const FlowStep& step : flow.steps) EXPECT_LE(flow.DependenciesOf(step).size(), 1u);
}

}  // namespace
}  // namespace ringlet::collective
