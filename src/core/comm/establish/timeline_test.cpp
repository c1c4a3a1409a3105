#include "comm/establish/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "os/clock.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(Timeline, PhasesAreConsecutive) {
  Timeline timeline("Establish");
  timeline.Reached(Phase::kDiscoverLocal);
  timeline.Reached(Phase::kPeerTable);
  timeline.Reached(Phase::kBarrier);
  EXPECT_GT(timeline.at(Phase::kDiscoverLocal), Instant(0));
  EXPECT_EQ(timeline.DurationOf(Phase::kDiscoverLocal), timeline.at(Phase::kDiscoverLocal));
  EXPECT_EQ(timeline.DurationOf(Phase::kPeerTable),
            timeline.at(Phase::kPeerTable) - timeline.at(Phase::kDiscoverLocal));
  EXPECT_EQ(timeline.DurationOf(Phase::kPlan), Instant(0)) << "not reached";
  EXPECT_EQ(timeline.total(), timeline.at(Phase::kBarrier));
  Instant sum{0};
  for (std::size_t p = 0; p < kPhases; ++p) sum += timeline.DurationOf(static_cast<Phase>(p));
  EXPECT_EQ(sum, timeline.total());
}

TEST(Timeline, IncludesTheMilestonesOfTheControlNetwork) {
  Timeline timeline("Establish");
  bootstrap::Milestones milestones;
  milestones.called = std::chrono::hours(1000000);
  timeline.Joined(milestones);
  EXPECT_GT(timeline.at(Phase::kCheckIn), Instant(0));
  EXPECT_EQ(timeline.at(Phase::kRoster), Instant(0));
}

TEST(Timeline, ARecoveryBeginsWithTheFailure) {
  EXPECT_EQ(Timeline("EstablishChild").recovery(), std::nullopt);
  Timeline timeline = Timeline::AfterFailure("Recovery", os::Now() - std::chrono::seconds(2));
  timeline.Reached(Phase::kStanding);
  timeline.Reached(Phase::kBarrier);
  const auto times = timeline.recovery();
  ASSERT_TRUE(times);
  EXPECT_GE(times->called, std::chrono::seconds(2));
  EXPECT_GE(times->agreed, times->called);
  EXPECT_GE(times->rebuilt, times->agreed);
  EXPECT_EQ(times->first_result, std::nullopt);
  EXPECT_EQ(DecodeTimeline(Encode(timeline))->recovery(), times);
}

TEST(Timeline, TheLogLineHasTheFormatOfNccl) {
  Timeline timeline("Establish");
  timeline.Reached(Phase::kBarrier);
  EXPECT_THAT(timeline.Line(3, 8),
              MatchesRegex("Init timings - Establish: rank 3 nranks 8 total [0-9.]+ \\(kernels "
                           "[0-9.]+, alloc [0-9.]+, bootstrap [0-9.]+, allgathers [0-9.]+, topo "
                           "[0-9.]+, graphs [0-9.]+, connections [0-9.]+, rest [0-9.]+\\)"));
}

TEST(Timeline, RoundTripsExceptForItsClock) {
  Timeline timeline("EstablishChild");
  timeline.Reached(Phase::kPlan);
  const Bytes bytes = Encode(timeline);
  const auto again = DecodeTimeline(bytes);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->call(), "EstablishChild");
  EXPECT_EQ(again->began_unix(), timeline.began_unix());
  EXPECT_EQ(again->at(Phase::kPlan), timeline.at(Phase::kPlan));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut)
    EXPECT_FALSE(DecodeTimeline(View(bytes).first(cut)).ok()) << cut;
}

TEST(Trace, HasARowForEachRankAndABarForEachPhase) {
  Timeline timeline("Establish");
  timeline.Reached(Phase::kDiscoverLocal);
  timeline.Reached(Phase::kBarrier);
  const auto trace =
      nlohmann::json::parse(TraceOf({{"rank 0 (host \"a\")", timeline}, {"rank 1", timeline}}));
  int rows = 0, bars = 0;
  for (const auto& event : trace["traceEvents"]) {
    rows += event["ph"] == "M";
    bars += event["ph"] == "X";
  }
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(bars, 4);
  EXPECT_EQ(trace["traceEvents"][0]["args"]["name"], "rank 0 (host \"a\")");
}

// The first rank to begin is at the origin. The others are at their own times by the same clock.
TEST(Trace, PlacesEachPhaseAtItsTime) {
  Timeline first("Establish");
  first.Reached(Phase::kDiscoverLocal);
  Timeline second("Establish");
  second.Reached(Phase::kPlan);
  first.Reached(Phase::kPeerTable);
  const auto us = [](Instant time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  const auto trace =
      nlohmann::json::parse(TraceOf({{"rank 0", second}, {"rank 1", first}}))["traceEvents"];
  ASSERT_EQ(trace.size(), 5u);
  const nlohmann::json &plan = trace[1], &look = trace[3], &peer_table = trace[4];
  EXPECT_EQ(plan["name"], "plan");
  EXPECT_EQ(plan["tid"], 0);
  EXPECT_DOUBLE_EQ(plan["ts"], us(second.began_unix() - first.began_unix()));
  EXPECT_DOUBLE_EQ(plan["dur"], us(second.at(Phase::kPlan)));
  EXPECT_EQ(look["name"], "look around");
  EXPECT_EQ(look["tid"], 1);
  EXPECT_DOUBLE_EQ(look["ts"], 0);
  EXPECT_DOUBLE_EQ(look["dur"], us(first.at(Phase::kDiscoverLocal)));
  EXPECT_EQ(peer_table["name"], "peer table");
  EXPECT_DOUBLE_EQ(peer_table["ts"], us(first.at(Phase::kDiscoverLocal)));
  EXPECT_DOUBLE_EQ(peer_table["dur"],
                   us(first.at(Phase::kPeerTable) - first.at(Phase::kDiscoverLocal)));
}

}  // namespace
}  // namespace ringlet::comm
