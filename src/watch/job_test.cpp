#include "watch/job.hpp"

#include <gmock/gmock.h>

#include "watch/traces_for_test.hpp"

namespace ringlet::watch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

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

TEST(JobsOf, RanksOfACommunicatorComeTogether) {
  const auto jobs = JobsOf({ProcessForTest(1), ProcessForTest(0)});
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_THAT(jobs[0].states, ElementsAre(StateForTest(0), StateForTest(1)));
  EXPECT_THAT(jobs[0].findings, IsEmpty());
}

TEST(JobsOf, ARanksOwnAnswerCountsMoreThanThatOfAPeer) {
  RankState told = StateForTest(0);
  told.operations = 99;
  const auto jobs = JobsOf({ProcessForTest(1, {told}), ProcessForTest(0)});
  EXPECT_EQ(jobs[0].states[0].operations, 1u);
  EXPECT_EQ(JobsOf({ProcessForTest(1, {told})})[0].states[0].operations, 99u);
}

TEST(JobsOf, ARankOfWhichNothingIsKnownIsAFinding) {
  EXPECT_THAT(JobsOf({ProcessForTest(1)})[0].findings, ElementsAre("nothing is known of rank 0"));
}

TEST(JobText, HasARowForEachRankAndTheFindings) {
  auto jobs = JobsOf({ProcessForTest(0), ProcessForTest(1)});
  jobs[0].states[1].inside = true;
  jobs[0].states[1].since = std::chrono::seconds(3);
  jobs[0].states[1].waits_for = 0;
  jobs[0].findings = {"rank 1 waits"};
  const std::string text = ToText(jobs[0]);
  EXPECT_THAT(text, HasSubstr("communicator ab, 2 ranks\n"));
  EXPECT_THAT(text, HasSubstr("     1 node0:11"));
  EXPECT_THAT(text, HasSubstr("inside      3.0 s   rank 0  all_reduce of 2 float sum"));
  EXPECT_THAT(text, HasSubstr("! rank 1 waits\n"));
}

TEST(JobText, ManyRanksAreCut) {
  JobStatus job{.communicator = "ab", .ranks = 300};
  for (std::uint32_t rank = 0; rank < 300; ++rank) job.states.push_back(StateForTest(rank));
  EXPECT_THAT(ToText(job), HasSubstr("and 172 more ranks\n"));
}

TEST(JobJson, IsAListOfObjects) {
  const Json json = Json::parse(ToJson(JobsOf({ProcessForTest(0)})));
  EXPECT_EQ(json[0]["communicator"], "ab");
  EXPECT_EQ(json[0]["states"][0]["last"]["call"], "all_reduce");
  EXPECT_EQ(json[0]["findings"].size(), 1u);
}

}  // namespace
}  // namespace ringlet::watch
