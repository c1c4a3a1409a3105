#include "watch/ras/ras_report.hpp"

#include <gmock/gmock.h>

#include "base/value/json_object.hpp"
#include "watch/ras/ras_jobs_for_test.hpp"

namespace ringlet::watch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using Reach = RankState::Reach;

const RasHeader kHeader{.nccl_version = "2.32.3",
                        .timestamp = "2026-11-24 15:04:05",
                        .took = std::chrono::milliseconds(20)};

Json JsonOf(const JobStatus& job) {
  return Json::parse(RasJson({job}, kHeader));
}

TEST(RasReport, IsShortForAHealthyJob) {
  EXPECT_EQ(RasText({JobForTest({3, 3, 3, 3})}, kHeader),
            "NCCL version 2.32.3 (Ringlet)\n\n"
            "Job summary\n===========\n\n"
            "  Nodes  Processes         GPUs  Processes     GPUs\n"
            "(total)   per node  per process    (total)  (total)\n"
            "      2          2            1          4        4\n"
            "\nCommunicators... (0.02s)\n=============\n\n"
            "Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n"
            "    #  in group  per comm  per node  per comm  in group\n"
            "    0         1         2         2         4         4   RUNNING      OK\n"
            "\nErrors\n======\n\nWarnings\n========\n\n");
  EXPECT_THAT(RasText({}, kHeader), HasSubstr("No communicator data collected!"));
}

TEST(RasReport, NamesARankThatIsBehind) {
  const std::string text = RasText({JobForTest({3, 2, 3, 3})}, kHeader);
  EXPECT_THAT(text,
              AllOf(HasSubstr("RUNNING  MISMATCH"),
                    HasSubstr("#0-0 (00000000000000ab) MISMATCH\n"
                              "  Communicator ranks have different AllReduce operation counts\n"
                              "  3 ranks have launched up to operation 3\n"
                              "  1 rank has launched up to operation 2\n"
                              "  Rank 1 -- GPU 1 managed by process 101 on node alpha\n"),
                    Not(HasSubstr("Rank 0"))));
}

TEST(RasReport, NamesAllRanksWithoutAMajority) {
  EXPECT_THAT(RasText({JobForTest({1, 0})}, kHeader),
              AllOf(HasSubstr("Rank 0 -- GPU 0"), HasSubstr("Rank 1 -- GPU 1"),
                    HasSubstr("has not launched any operations")));
}

TEST(RasReport, OmitsALongListUnlessVerbose) {
  std::vector<std::uint64_t> sums(40, 3);
  std::fill_n(sums.begin(), 11, 2);
  RasHeader header = kHeader;
  EXPECT_THAT(RasText({JobForTest(sums)}, header), Not(HasSubstr("Rank 1 ")));
  header.verbose = true;
  EXPECT_THAT(RasText({JobForTest(sums)}, header), HasSubstr("Rank 1 "));
}

TEST(RasReport, ARankThatDoesNotAnswerIsMissing) {
  JobStatus job = JobForTest({3, 0, 3, 3});
  job.states[1].reach = Reach::kSilent;
  job.findings = {"rank 1 is stopped"};
  EXPECT_THAT(RasText({job}, kHeader),
              AllOf(HasSubstr("RUNNING  INCOMPLETE"), Not(HasSubstr("MISMATCH")),
                    HasSubstr("Missing communicator data from 1 job process\n"
                              "  Process 101 on node alpha managing GPU 1\n"),
                    HasSubstr("INCOMPLETE\n  Missing communicator data from 1 rank\n"
                              "  Rank 1 -- GPU 1 managed by process 101 on node alpha\n"),
                    HasSubstr("Encountered 1 communication timeout"),
                    HasSubstr("Findings\n========\n\n#0-0 (00000000000000ab) FINDINGS\n"
                              "  rank 1 is stopped\n")));
  const Json json = JsonOf(job);
  const Json& one = json["communicators"][0];
  EXPECT_EQ(one["ranks_count"], 3);
  EXPECT_EQ(one["missing_ranks_count"], 1);
  EXPECT_EQ(one["missing_ranks"][0]["rank"], 1);
  EXPECT_EQ(one["missing_ranks"][0]["status"],
            (Json{{"unresponsive", true}, {"considered_dead", false}}));
  EXPECT_EQ(json["ras"]["timeouts_count"], 1);
}

TEST(RasReport, DistinguishesADeadFromASilentProcess) {
  JobStatus job = JobForTest({3, 3, 3, 3});
  job.states[2].reach = Reach::kGone;
  EXPECT_THAT(RasText({job}, kHeader), HasSubstr("DEAD\n  1 job process is dead\n"
                                                 "  Process 102 on node beta managing GPU 0\n"));
  EXPECT_EQ(JsonOf(job)["communicators"][0]["missing_ranks"][0]["status"]["considered_dead"], true);
}

TEST(RasReport, ADepartedRankHasTheStatusNoComm) {
  JobStatus job = JobForTest({3, 3, 3});
  job.states[2].reach = Reach::kLeft;
  EXPECT_THAT(RasText({job}, kHeader),
              AllOf(HasSubstr("have different status"), HasSubstr("1 rank has status NOCOMM"),
                    Not(HasSubstr("INCOMPLETE"))));
  EXPECT_EQ(JsonOf(job)["communicators"][0]["missing_ranks"][0]["status"]["unresponsive"], false);
}

TEST(RasReport, ListsAFailureAsAnErrorOfItsRanks) {
  JobStatus job = JobForTest({3, 3, 3});
  job.states[1].failure = "rank 2 was lost";
  job.states[1].result = 6;
  EXPECT_THAT(RasText({job}, kHeader),
              AllOf(HasSubstr("RUNNING   ERROR"), HasSubstr("1 rank reported: rank 2 was lost\n"
                                                            "  Rank 1 -- GPU 1")));
  EXPECT_EQ(JsonOf(job)["communicators"][0]["ranks"][1]["status"]["async_error"], 6);
}

TEST(RasReport, JsonHasTheMembersOfNccl) {
  JobStatus forming{.communicator = "00000000000000cd", .ranks = 2};
  forming.states = {{.rank = 1, .host = "alpha", .pid = 101, .forming = true}};
  const Json json = Json::parse(RasJson({forming, JobForTest({3, 3, 3})}, kHeader));
  EXPECT_EQ(json["nccl_version"], "2.32.3");
  EXPECT_EQ(json["timestamp"], "2026-11-24 15:04:05");
  EXPECT_EQ(json["communicators_count"], 2);
  EXPECT_EQ(json["ras"]["collection_time_sec"], 0.02);
  const Json& rank = json["communicators"][0]["ranks"][2];
  EXPECT_EQ(json["communicators"][0]["hash"], "0x00000000000000ab") << "the largest comes first";
  EXPECT_EQ(rank["host"], "beta");
  EXPECT_EQ(rank["pid"], 102);
  EXPECT_EQ(rank["cuda_dev"], 0);
  EXPECT_EQ(rank["status"], (Json{{"init_state", 0},
                                  {"async_error", 0},
                                  {"finalize_called", false},
                                  {"destroy_flag", false},
                                  {"abort_flag", false}}));
  EXPECT_EQ(rank["collective_counts"]["AllReduce"], 3);
  EXPECT_EQ(rank["collective_counts"]["Broadcast"], 0);
  const Json& other = json["communicators"][1];
  EXPECT_EQ(other["ranks"][0]["status"]["init_state"], 7);
  EXPECT_EQ(other["missing_ranks"][0]["host"], "unknown");
  EXPECT_EQ(other["missing_ranks"][0]["pid"], -1);
}

TEST(RasPeers, ListTheDevicesOfTheirRanksInTheLargestCommunicator) {
  JobStatus job = JobForTest({1, 1, 1});
  job.states[1].pid = 100;
  JobStatus part = JobForTest({1});
  part.communicator = "00000000000000cd";
  const auto peers = RasPeersOf({part, job});
  ASSERT_THAT(peers, SizeIs(2));
  EXPECT_THAT(peers[0].devices, ElementsAre(0, 1));
  EXPECT_EQ(ToText(peers[0]), "Process 100 on node alpha managing GPUs 0,1");
}

}  // namespace
}  // namespace ringlet::watch
