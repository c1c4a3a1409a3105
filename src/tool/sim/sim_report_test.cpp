#include "tool/sim/sim_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace ringlet::cli {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

SimOptions Options() {
  return ParseSimOptions({}).value();
}

SimRow SampleRow() {
  SimRow row;
  row.ranks = row.standing = 1024;
  row.hosts = 128;
  row.steps = 50;
  row.phases = {.checked_in = microseconds(231),
                .roster_first = microseconds(236),
                .roster_last = microseconds(2725),
                .connected = microseconds(2805),
                .standing = microseconds(2885)};
  row.root = {.bytes_sent = 1000,
              .bytes_received = 600,
              .messages_sent = 30,
              .messages_received = 12,
              .dialled = 0,
              .accepted = 1024};
  row.busiest_rank_index = 7;
  row.busiest_rank.bytes_sent = 12'345'678;
  row.events = 31'600;
  row.trace = 0xabc;
  row.wall = milliseconds(1500);
  row.memory_bytes = 10'000'000;
  return row;
}

SimRow FailedRow() {
  SimRow row = SampleRow();
  row.standing = 0;
  row.failed = 1020;
  row.killed = 1;
  row.absent = 2;
  row.waiting = 1;
  row.failures = {{"rank 3 was lost", {0, 1, 2, 4, 9}, milliseconds(5), milliseconds(6)}};
  return row;
}

TEST(SimReportTest, ComputesTheTargetStepsAndBytesPerHost) {
  EXPECT_EQ(StepsTarget(1), 0.0);
  EXPECT_EQ(StepsTarget(1024), 60.0);
  EXPECT_EQ(SampleRow().RootBytesPerHost(), 12.5);
  EXPECT_EQ(SimRow().RootBytesPerHost(), 0.0);
}

TEST(SimReportTest, TheHeadNamesTheSimulatedSystem) {
  SimOptions options = Options();
  EXPECT_THAT(SimHeadText(options),
              AllOf(HasSubstr("tree of arity 8, 8 ranks a host, 1 root"), HasSubstr("20 us"),
                    HasSubstr("10 Gb/s"), HasSubstr("seed 1"), Not(HasSubstr("faults")),
                    Not(HasSubstr("costs"))));
  options.shape = bootstrap::Shape::kRing;
  options.hosts = 3;
  options.mb_per_s = 0;
  options.cpu_per_event = microseconds(10);
  options.faults = ParseFaults("kill:3@1ms").value();
  options.faults_text = "kill:3@1ms";
  EXPECT_THAT(SimHeadText(options),
              AllOf(HasSubstr("ring, 3 hosts"), HasSubstr("unlimited"), HasSubstr("costs 10 us"),
                    HasSubstr("faults: kill:3@1ms")));
}

TEST(SimReportTest, ARowHasAColumnForEachHeading) {
  const auto words = [](const std::string& text) {
    std::size_t count = 0;
    bool inside = false;
    for (const char c : text) {
      count += c != ' ' && c != '\n' && !inside;
      inside = c != ' ' && c != '\n';
    }
    return count;
  };
  const std::string text = SimRowText(SampleRow());
  EXPECT_EQ(words(text), 17u);
  EXPECT_THAT(text, AllOf(HasSubstr(" 1024 "), HasSubstr(" 60.0 "), HasSubstr(" 2.885 "),
                          HasSubstr(" 1600 "), HasSubstr(" 12.3M "), HasSubstr(" 31.6k "),
                          HasSubstr(" 1.50 ")));
  SimRow unfinished = SampleRow();
  unfinished.phases = {};
  EXPECT_EQ(words(SimRowText(unfinished)), 17u);
}

TEST(SimReportTest, FailuresNameTheirRanksAndTimes) {
  EXPECT_EQ(SimFailuresText(SampleRow()), "");
  EXPECT_THAT(
      SimFailuresText(FailedRow()),
      AllOf(HasSubstr("0 completed, 1020 failed, 1 were killed, 2 never started, 1 still wait"),
            HasSubstr("5 x from 5.000 to 6.000 ms, ranks 0-2,4,9: rank 3 was lost")));
}

TEST(SimReportTest, MentionsFurtherFailuresOnlyIfTheyExist) {
  SimRow row = FailedRow();
  EXPECT_THAT(SimFailuresText(row), Not(HasSubstr("and more failures")));
  row.failures_unsaid = 1;
  EXPECT_THAT(SimFailuresText(row), HasSubstr("and more failures: --json lists the first 1"));
}

TEST(SimReportTest, ShortensManyFailuresAndLongLists) {
  SimRow row = FailedRow();
  std::vector<std::uint32_t> odd;
  for (std::uint32_t rank = 1; rank < 1000; rank += 2) odd.push_back(rank);
  row.failures.assign(50, SimFailure{"a reason " + std::string(5000, 'x'), odd, {}, {}});
  const std::string text = SimFailuresText(row);
  EXPECT_LT(text.size(), 10'000u);
  EXPECT_THAT(text, AllOf(HasSubstr("1,3,5"), HasSubstr(",...: a reason xxx"),
                          HasSubstr("--json lists the first 50")));
}

TEST(SimReportTest, JsonHasTheDocumentedKeys) {
  const auto json = nlohmann::json::parse(SimJson(Options(), {SampleRow(), FailedRow()}));
  EXPECT_EQ(json.at("mode"), "tree");
  EXPECT_EQ(json.at("latency_us"), 20.0);
  EXPECT_EQ(json.at("mb_per_s"), 1250);
  const auto& row = json.at("rows").at(0);
  EXPECT_EQ(row.at("n"), 1024);
  EXPECT_EQ(row.at("steps"), 50);
  EXPECT_EQ(row.at("total_ms"), 2.885);
  EXPECT_EQ(row.at("phases_ms").at("checked_in"), 0.231);
  EXPECT_EQ(row.at("root").at("bytes_sent"), 1000);
  EXPECT_EQ(row.at("root_bytes_per_host"), 12.5);
  EXPECT_EQ(row.at("busiest_rank").at("rank"), 7);
  EXPECT_EQ(row.at("trace"), "0000000000000abc");
  const auto& failure = json.at("rows").at(1).at("failures").at(0);
  EXPECT_EQ(failure.at("ranks"), "0-2,4,9");
  EXPECT_EQ(failure.at("count"), 5);
  EXPECT_EQ(failure.at("first_ms"), 5.0);
  SimRow unfinished = SampleRow();
  unfinished.phases = {};
  unfinished.failures = {{"\xff", {1}, {}, {}}};
  const auto other = nlohmann::json::parse(SimJson(Options(), {unfinished}));
  EXPECT_TRUE(other.at("rows").at(0).at("total_ms").is_null());
}

TEST(SimReportTest, FormationMustSucceedWithoutFaultsAndEndWithThem) {
  SimOptions options = Options();
  EXPECT_TRUE(SimVerdict(options, SampleRow()).ok());
  EXPECT_THAT(SimVerdict(options, FailedRow()).error().message,
              AllOf(HasSubstr("only 0 of 1024 ranks completed"), HasSubstr("rank 3 was lost")));
  options.faults = ParseFaults("kill:3@1ms").value();
  EXPECT_THAT(SimVerdict(options, FailedRow()).error().message,
              HasSubstr("1 of 1024 ranks still wait"));
  SimRow settled = FailedRow();
  settled.waiting = 0;
  EXPECT_TRUE(SimVerdict(options, settled).ok());
  options.until = milliseconds(1);
  EXPECT_TRUE(SimVerdict(options, FailedRow()).ok()) << "it was not given the time";
}

}  // namespace
}  // namespace ringlet::cli
