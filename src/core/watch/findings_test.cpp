#include "watch/findings.hpp"

#include <gmock/gmock.h>

#include "watch/traces_for_test.hpp"

namespace ringlet::watch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A rank inside its operation 7.
RankState InSeventh(std::uint32_t rank) {
  return {.rank = rank,
          .host = "node0",
          .pid = 100 + rank,
          .operations = 8,
          .last = SumForTest(7),
          .inside = true};
}
/// A rank that has not called operation 7.
RankState AfterSixth(std::uint32_t rank) {
  RankState state = InSeventh(rank);
  state.operations = 7;
  state.last = SumForTest(6);
  state.inside = false;
  return state;
}

TEST(Findings, RanksInTheSameOperationGiveNoFinding) {
  EXPECT_THAT(FindingsOf({InSeventh(0), InSeventh(1)}, 2), IsEmpty());
  EXPECT_THAT(FindingsOf({AfterSixth(0), AfterSixth(1)}, 2), IsEmpty());
}

TEST(Findings, NameARankThatSkippedACall) {
  EXPECT_THAT(
      FindingsOf({InSeventh(0), AfterSixth(1), InSeventh(2)}, 3),
      ElementsAre("rank 1 (host node0, pid 101) has not called all_reduce of 2 float sum as "
                  "operation 7, where ranks 0, 2 wait: it is outside of any operation, "
                  "the last was all_reduce of 2 float sum as operation 6"));
}

TEST(Findings, ReportWhetherARankThatIsBehindComputes) {
  RankState behind = AfterSixth(1);
  behind.process = "running";
  EXPECT_THAT(FindingsOf({InSeventh(0), behind}, 2),
              ElementsAre(HasSubstr("as operation 6: it computes")));
  behind.process = "sleeping";
  EXPECT_THAT(FindingsOf({InSeventh(0), behind}, 2),
              ElementsAre(HasSubstr("it sleeps or waits elsewhere")));
}

// Ranks 0 to 2 wait for each other in a ring.
std::vector<RankState> Ring() {
  std::vector<RankState> ranks;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ranks.push_back(InSeventh(rank));
    ranks.back().waits_for = (rank + 2) % 3;
  }
  ranks[0].since = std::chrono::seconds(2);
  return ranks;
}

TEST(Findings, NameTheSlowSenderInACycleOfWaitingRanks) {
  std::vector<RankState> ranks = Ring();
  EXPECT_THAT(FindingsOf(ranks, 3), IsEmpty());
  ranks[1].slow_sends = {{.peer = 2, .bytes = 1000, .bytes_per_second = 20'000}};
  EXPECT_THAT(
      FindingsOf(ranks, 3),
      ElementsAre("rank 1 (host node0, pid 101) sends slowly to rank 2, which waits for it: "
                  "1000 bytes have not arrived, at 0.020 MB/s; look at the NIC of the sender "
                  "and at the network between"));
  ranks[1].slow_sends[0].quiet = std::chrono::seconds(3);
  EXPECT_THAT(FindingsOf(ranks, 3), ElementsAre(HasSubstr("nothing was acknowledged for 3.0 s")));
}

TEST(Findings, IgnoreASlowLinkThatDelaysNoRank) {
  std::vector<RankState> ranks = Ring();
  ranks[1].slow_sends = {{.peer = 0, .bytes = 1000, .bytes_per_second = 20'000}};
  EXPECT_THAT(FindingsOf(ranks, 3), IsEmpty());
  ranks[1].slow_sends[0].peer = 2;
  ranks[0].since = std::chrono::milliseconds(20);
  EXPECT_THAT(FindingsOf(ranks, 3), IsEmpty()) << "it has just begun";
}

TEST(Findings, ReportADifferentCallWithBothSides) {
  RankState other = InSeventh(1);
  other.last->count = 3;
  EXPECT_THAT(
      FindingsOf({InSeventh(0), other, InSeventh(2)}, 3),
      ElementsAre("ranks 0, 2 called all_reduce of 2 float sum as operation 7, rank 1 called "
                  "all_reduce of 3 float sum as operation 7: all ranks must call the same "
                  "operations in the same order"));
}

TEST(Findings, NameAStoppedRankFirst) {
  RankState stopped = AfterSixth(1);
  stopped.process = "stopped";
  stopped.reach = RankState::Reach::kSilent;
  EXPECT_THAT(FindingsOf({InSeventh(0), stopped}, 2),
              ElementsAre(HasSubstr("rank 1 (host node0, pid 101) is stopped"),
                          HasSubstr("has not called")));
  stopped.last.reset();
  stopped.operations = 0;
  EXPECT_THAT(FindingsOf({InSeventh(0), stopped}, 2), ElementsAre(HasSubstr("is stopped")))
      << "its calls are not known";
  stopped.process.clear();
  EXPECT_THAT(FindingsOf({InSeventh(0), stopped}, 2).front(), HasSubstr("does not answer"));
}

TEST(Findings, NameARankThatDoesNotCallItsMessage) {
  RankState receives = InSeventh(0), sends = AfterSixth(1);
  receives.last->messages = 1;
  receives.waits_for = 1;
  EXPECT_THAT(
      FindingsOf({receives, sends}, 2),
      ElementsAre(HasSubstr("rank 0 waits for a message with rank 1 (host node0, pid 101): it "
                            "has not called its side, or the link between is stuck; it is "
                            "outside")));
  sends.inside = true;
  EXPECT_THAT(FindingsOf({receives, sends}, 2), IsEmpty()) << "it may come yet";
}

TEST(Findings, NameEndedDepartedAndUnknownRanks) {
  RankState gone = AfterSixth(1), left = AfterSixth(2), unknown = AfterSixth(3);
  gone.reach = RankState::Reach::kGone;
  left.reach = RankState::Reach::kLeft;
  unknown.reach = RankState::Reach::kUnknown;
  EXPECT_THAT(FindingsOf({InSeventh(0), gone, left, unknown}, 6),
              ElementsAre(HasSubstr("pid 101) has ended"), HasSubstr("has left the communicator"),
                          "the state of ranks 3-5 is unknown"));
}

TEST(Findings, IgnoreRanksOfAnEndingCommunicator) {
  RankState last = AfterSixth(0), left = AfterSixth(1), gone = AfterSixth(2);
  left.reach = RankState::Reach::kLeft;
  gone.reach = RankState::Reach::kGone;
  EXPECT_THAT(FindingsOf({last, left, gone}, 4), IsEmpty());
  EXPECT_THAT(FindingsOf({last, gone}, 2), testing::Contains(HasSubstr("has ended")))
      << "none has left in good order";
  last.failure = "rank 2 was lost";
  EXPECT_THAT(FindingsOf({last, left, gone}, 3), testing::SizeIs(3));
}

TEST(Findings, ReportFailedAndFormingCommunicators) {
  RankState failed = InSeventh(0);
  failed.failure = "rank 1 was lost";
  EXPECT_THAT(FindingsOf({failed}, 1), ElementsAre("the communicator has failed: rank 1 was lost"));
  RankState forming{
      .rank = 0, .host = "node0", .pid = 1, .forming = true, .phase = "waits for rank 1"};
  EXPECT_THAT(FindingsOf({forming}, 1),
              ElementsAre(HasSubstr("forms the communicator: waits for rank 1")));
}

TEST(Findings, TheirNumberIsBounded) {
  std::vector<RankState> states;
  for (std::uint32_t rank = 0; rank < 100; ++rank) {
    states.push_back(AfterSixth(rank));
    states.back().reach = RankState::Reach::kGone;
  }
  const auto findings = FindingsOf(states, 100);
  EXPECT_EQ(findings.size(), 33u);
  EXPECT_EQ(findings.back(), "and 68 more");
}

TEST(Findings, ATraceYieldsTheStateOfItsRank) {
  const RankState done = StateOf(TraceForTest(1, 2, 3));
  EXPECT_EQ(done.operations, 3u);
  EXPECT_FALSE(done.inside);
  EXPECT_EQ(done.since, Instant(50));
  const RankState waiting = StateOf(Waiting(TraceForTest(1, 2, 3)));
  EXPECT_TRUE(waiting.inside);
  EXPECT_EQ(waiting.since, Instant(100));
  EXPECT_FALSE(StateOf(TraceForTest(1, 2, 0)).last.has_value());
}

}  // namespace
}  // namespace ringlet::watch
