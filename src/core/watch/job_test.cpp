#include "watch/job.hpp"

#include <gmock/gmock.h>

#include "watch/traces_for_test.hpp"

namespace ringlet::watch {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

RankState StateForTest(std::uint32_t rank) {
  return {.rank = rank, .host = "node0", .pid = 10 + rank, .operations = 1, .last = SumForTest(0)};
}
ProcessStatus ProcessForTest(std::uint32_t rank, std::vector<RankState> peers = {}) {
  return {.host = "node0",
          .pid = 10 + rank,
          .communicators = {{.communicator = "ab",
                             .ranks = 2,
                             .self = StateForTest(rank),
                             .peers = std::move(peers)}}};
}

TEST(JobsOf, GroupsTheRanksOfACommunicator) {
  const auto jobs = JobsOf({ProcessForTest(1), ProcessForTest(0)});
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_THAT(jobs[0].states, ElementsAre(StateForTest(0), StateForTest(1)));
  EXPECT_THAT(jobs[0].findings, IsEmpty());
}

TEST(JobsOf, PrefersARanksOwnAnswerToThatOfAPeer) {
  RankState told = StateForTest(0);
  told.operations = 99;
  const auto jobs = JobsOf({ProcessForTest(1, {told}), ProcessForTest(0)});
  EXPECT_EQ(jobs[0].states[0].operations, 1u);
  EXPECT_EQ(JobsOf({ProcessForTest(1, {told})})[0].states[0].operations, 99u);
}

TEST(JobsOf, ReportsAnUnknownRank) {
  EXPECT_THAT(JobsOf({ProcessForTest(1)})[0].findings,
              ElementsAre("the state of rank 0 is unknown"));
}

TEST(JobsOf, IncludesCommunicatorsReportedByPeers) {
  ProcessStatus process = ProcessForTest(0, {StateForTest(1)});
  RankState own = StateForTest(0);
  own.operations = 99;
  process.communicators[0].told = {{"ab", 2, own}, {"cd", 3, StateForTest(1)}};
  const auto jobs = JobsOf({process});
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_THAT(jobs[0].states, ElementsAre(StateForTest(0), StateForTest(1)));
  EXPECT_EQ(jobs[1].communicator, "cd");
  EXPECT_EQ(jobs[1].ranks, 3u);
  EXPECT_THAT(jobs[1].states, ElementsAre(StateForTest(1)));
  EXPECT_THAT(jobs[1].findings, ElementsAre("the state of ranks 0, 2 is unknown"));
}

/// Rank 0 waits in communicator "ab" for rank 1, whose process waits in "cd" for rank 0.
std::vector<ProcessStatus> DeadlockForTest() {
  std::vector<ProcessStatus> processes = {ProcessForTest(0), ProcessForTest(1)};
  for (ProcessStatus& process : processes) {
    process.communicators.push_back(process.communicators[0]);
    process.communicators[1].communicator = "cd";
  }
  for (const std::uint32_t rank : {0u, 1u}) {
    RankState& self = processes[rank].communicators[rank].self;
    self.inside = true;
    self.last = SumForTest(1);
    self.operations = 2;
    self.waits_for = 1 - rank;
  }
  return processes;
}

TEST(JobsOf, ReportsACyclicWaitInBothCommunicators) {
  const auto jobs = JobsOf(DeadlockForTest());
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_THAT(
      jobs[0].findings,
      ElementsAre("rank 1 (host node0, pid 11) has not called all_reduce of 2 float sum as "
                  "operation 1, where rank 0 waits: it is in all_reduce of 2 float sum as "
                  "operation 1 of communicator cd and waits there for rank 0",
                  "rank 0 is in an operation of this communicator, rank 1 in one of another: all "
                  "ranks must call the operations of several communicators in the same order"));
  EXPECT_THAT(jobs[1].findings[0], HasSubstr("rank 0 (host node0, pid 10) has not called"));
}

TEST(JobsOf, MakesNoGuessForAProcessWithSeveralActiveRanks) {
  std::vector<ProcessStatus> processes = DeadlockForTest();
  for (CommunicatorStatus& one : processes[0].communicators) one.self.pid = 11;
  EXPECT_THAT(JobsOf(processes)[0].findings, Not(Contains(HasSubstr("communicator cd"))));
}

TEST(JobText, HasARowForEachRankAndTheFindings) {
  auto jobs = JobsOf({ProcessForTest(0), ProcessForTest(1)});
  jobs[0].states[1].inside = true;
  jobs[0].states[1].since = std::chrono::seconds(3);
  jobs[0].states[1].waits_for = 0;
  jobs[0].findings = {"rank 1 waits"};
  const std::string text = ToText(jobs);
  EXPECT_THAT(text, HasSubstr("communicator ab, 2 ranks\n"));
  EXPECT_THAT(text, HasSubstr("     1 node0:11"));
  EXPECT_THAT(text, HasSubstr("inside      3.0 s   rank 0  all_reduce of 2 float sum"));
  EXPECT_THAT(text, StartsWith("! rank 1 waits\n\ncommunicator ab, 2 ranks\n"));
}

TEST(JobText, ShowsTheTimesOfARecovery) {
  auto jobs = JobsOf({ProcessForTest(0), ProcessForTest(1)});
  using std::chrono::milliseconds;
  jobs[0].states[0].recovery = {.called = milliseconds(1),
                                .agreed = milliseconds(9),
                                .rebuilt = milliseconds(20),
                                .first_result = milliseconds(21)};
  jobs[0].states[1].recovery = {
      .called = milliseconds(2), .agreed = milliseconds(8), .rebuilt = milliseconds(22)};
  EXPECT_THAT(ToText(jobs), HasSubstr("communicator ab, 2 ranks\ncontinues a failed communicator; "
                                      "its last rank: called 2.0, agreed 9.0, rebuilt 22.0 ms "
                                      "after the failure\n"))
      << "rank 1 has no result yet";
  jobs[0].states[1].recovery->first_result = milliseconds(23);
  EXPECT_THAT(ToText(jobs), HasSubstr("rebuilt 22.0, first result 23.0 ms after the failure\n"));
}

/// The processes of a job of two ranks with pids `pid` and `pid` + 1.
std::vector<ProcessStatus> TwoRanksOf(const std::string& communicator, std::uint32_t pid) {
  std::vector<ProcessStatus> processes = {ProcessForTest(0), ProcessForTest(1)};
  for (ProcessStatus& process : processes) {
    process.communicators[0].communicator = communicator;
    process.communicators[0].self.pid += pid - 10;
  }
  return processes;
}

TEST(JobText, SeparatesJobsAndBeginsWithFindings) {
  std::vector<ProcessStatus> processes = TwoRanksOf("cc", 10);
  for (const char* communicator : {"aa", "dd"})
    for (ProcessStatus& one : TwoRanksOf(communicator, 20)) processes.push_back(one);
  auto jobs = JobsOf(processes);
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].communicator, "aa");
  EXPECT_EQ(jobs[1].communicator, "dd") << "in the processes of aa";
  EXPECT_EQ(jobs[2].communicator, "cc");
  EXPECT_EQ(jobs[0].job, 1u);
  EXPECT_EQ(jobs[1].job, 1u);
  EXPECT_EQ(jobs[2].job, 2u);
  jobs[2].findings = {"rank 1 waits"};
  const std::string text = ToText(jobs);
  EXPECT_THAT(text, StartsWith("! rank 1 waits (communicator cc)\n\njob 1: node0:20, node0:21\n"
                               "communicator aa, 2 ranks\n"));
  EXPECT_THAT(text, HasSubstr("\n\njob 2: node0:10, node0:11\ncommunicator cc, 2 ranks\n"));
}

TEST(JobNames, MatchTheNamesInTheLog) {
  for (const char* name : {"0071c25ab0a4a8a8", "commId 0071c25ab0a4a8a8", "0x71C25AB0A4A8A8",
                           "comm 0x71c25ab0a4a8a8", "0071", ""})
    EXPECT_TRUE(IsNamed("0071c25ab0a4a8a8", name)) << name;
  for (const char* name : {"c25a", "0071c25ab0a4a8a8a", "commId 1"})
    EXPECT_FALSE(IsNamed("0071c25ab0a4a8a8", name)) << name;
}

TEST(JobText, TruncatesLongListsOfRanks) {
  JobStatus job{.communicator = "ab", .ranks = 300};
  for (std::uint32_t rank = 0; rank < 300; ++rank) job.states.push_back(StateForTest(rank));
  EXPECT_THAT(ToText(std::vector{job}), HasSubstr("and 172 more ranks\n"));
}

TEST(JobJson, IsAListOfObjects) {
  const Json json = Json::parse(ToJson(JobsOf({ProcessForTest(0)})));
  EXPECT_EQ(json[0]["communicator"], "ab");
  EXPECT_EQ(json[0]["states"][0]["last"]["call"], "all_reduce");
  EXPECT_EQ(json[0]["findings"].size(), 1u);
}

}  // namespace
}  // namespace ringlet::watch
