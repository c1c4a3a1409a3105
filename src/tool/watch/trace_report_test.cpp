#include "tool/watch/trace_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "watch/traces_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using watch::TraceForTest;

TEST(TraceReport, RanksThatAgreeGiveNoFindings) {
  const auto reports = ReportTraces({TraceForTest(1, 2, 5), TraceForTest(0, 2, 5)});
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].traces[0].rank, 0u);
  EXPECT_FALSE(reports[0].divergence.has_value());
  EXPECT_THAT(reports[0].findings, IsEmpty());
  const std::string text = ToText(reports[0]);
  EXPECT_THAT(text, HasSubstr("communicator 00000000000000ab, 2 ranks, 2 traces\n"));
  EXPECT_THAT(text, HasSubstr("no divergence"));
  EXPECT_THAT(text, HasSubstr("done all_reduce of 2 float sum as operation 4"));
  EXPECT_THAT(text, Not(HasSubstr("clock of")));
}

TEST(TraceReport, TakesTheLaterTraceOfARank) {
  watch::RankTrace later = TraceForTest(0, 1, 9);
  EXPECT_EQ(ReportTraces({later, TraceForTest(0, 1, 5)})[0].traces[0].begun, 9u);
  EXPECT_EQ(ReportTraces({TraceForTest(0, 1, 5), later})[0].traces[0].begun, 9u);
}

TEST(TraceReport, SeparatesCommunicators) {
  watch::RankTrace other = TraceForTest(0, 1, 1);
  other.communicator = "00000000000000cd";
  EXPECT_EQ(ReportTraces({TraceForTest(0, 1, 1), other}).size(), 2u);
}

TEST(TraceReport, ReportsDivergenceMissingRanksAndLateness) {
  watch::RankTrace late = TraceForTest(1, 3, 4, Instant(1500));
  late.host = "node1";
  late.host_hash = "2";
  const auto reports = ReportTraces({Waiting(TraceForTest(0, 3, 5)), late});
  const std::string text = ToText(reports[0]);
  EXPECT_THAT(text, HasSubstr("first divergence: operation 4: rank 0 called all_reduce of 2 float "
                              "sum, rank 1 never called it\n"));
  EXPECT_THAT(text, HasSubstr("! the state of rank 2 is unknown\n"));
  EXPECT_THAT(text, HasSubstr("! rank 1 (host node1, pid 101) has not called"));
  EXPECT_THAT(text, HasSubstr("clock of node1: compared within"));
  EXPECT_THAT(text, HasSubstr("operations that waited longest for their last rank:\n"));
  const auto json = nlohmann::json::parse(ToJson(reports));
  EXPECT_EQ(json[0]["divergence"]["operation"], 4);
  EXPECT_EQ(json[0]["divergence"]["groups"][1]["call"], nullptr);
  EXPECT_EQ(json[0]["traces"][1]["rank"], 1);
  EXPECT_EQ(json[0]["lateness"]["compared"], 4);
  EXPECT_EQ(json[0]["findings"].size(), reports[0].findings.size());
}

}  // namespace
}  // namespace ringlet::cli
