#include "tool/results/report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace ringlet::cli {
namespace {

using testing::DoubleEq;

const Row kRow{.bytes = 1'000'000,
               .count = 250'000,
               .out_of_place = Measurement{.time_us = 500, .p99_us = 800, .cpu_us = 70, .wrong = 3},
               .in_place = Measurement{.time_us = 1000, .p99_us = 1600, .wrong = {}}};

BenchReport Report() {
  return {.ranks = 4,
          .links = "2 shm",
          .type = DataType::kBfloat16,
          .op = ReduceOp::kMax,
          .rows = {kRow}};
}

TEST(ReportTest, BandwidthsAreThoseOfNcclTests) {
  EXPECT_THAT(AlgorithmBandwidth(kRow.bytes, kRow.first()), DoubleEq(2));
  EXPECT_THAT(BusBandwidth(Report(), kRow.bytes, kRow.first()), DoubleEq(3));
  EXPECT_THAT(MeanBusBandwidth(Report()), DoubleEq(2.25));
  EXPECT_THAT(MeanBusBandwidth({}), DoubleEq(0));
}

TEST(ReportTest, SumsWrongElementsOfAllRows) {
  BenchReport report = Report();
  report.rows.push_back(kRow);
  report.rows[1].in_place->wrong = 4;
  EXPECT_EQ(WrongElements(report), 10u);
}

TEST(ReportTest, WrongElementsAndMissingSizesAreFailures) {
  EXPECT_THAT(Verdict(Report(), 1).error().message, testing::HasSubstr("3 wrong elements"));
  EXPECT_THAT(Verdict(Report(), 2).error().message, testing::HasSubstr("1 of 2 sizes"));
  BenchReport right = Report();
  right.rows[0].out_of_place->wrong = 0;
  EXPECT_TRUE(Verdict(right, 1).ok());
}

TEST(ReportTest, JsonHasTheDocumentedKeys) {
  const auto json = nlohmann::json::parse(ToJson(Report()));
  EXPECT_EQ(json.at("op"), "all_reduce");
  EXPECT_EQ(json.at("ranks"), 4);
  EXPECT_EQ(json.at("links"), "2 shm");
  EXPECT_EQ(json.at("type"), "bfloat16");
  EXPECT_EQ(json.at("redop"), "max");
  const auto& row = json.at("rows").at(0);
  EXPECT_EQ(row.at("size"), 1'000'000);
  EXPECT_EQ(row.at("count"), 250'000);
  EXPECT_EQ(row.at("time_us"), 500.0);
  EXPECT_EQ(row.at("p99_us"), 800.0);
  EXPECT_EQ(row.at("algbw_gb_s"), 2.0);
  EXPECT_EQ(row.at("busbw_gb_s"), 3.0);
  EXPECT_EQ(row.at("cpu_us"), 70.0);
  EXPECT_EQ(row.at("wrong"), 3);
  EXPECT_EQ(row.at("in_place").at("busbw_gb_s"), 1.5);
  EXPECT_TRUE(row.at("in_place").at("wrong").is_null());
}

TEST(ReportTest, ASinglePlacementSuffices) {
  BenchReport report = Report();
  report.rows[0].out_of_place = std::nullopt;
  EXPECT_THAT(MeanBusBandwidth(report), DoubleEq(1.5));
  EXPECT_EQ(WrongElements(report), 0u);
  EXPECT_FALSE(nlohmann::json::parse(ToJson(report)).at("rows").at(0).contains("time_us"));
  EXPECT_EQ(ParseLine(ToLine(report.rows[0])).value(), WorkerMessage(report.rows[0]));
}

TEST(ReportTest, ShowsPeersWithTheirRatio) {
  BenchReport report = Report();
  report.peers = {"gloo"};
  report.rows[0].peers["gloo"] = {.time_us = 1500};
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json.at("peers").at(0), "gloo");
  EXPECT_EQ(json.at("rows").at(0).at("peers").at("gloo").at("ratio"), 3.0);
}

TEST(ReportTest, OmitsRootAndReductionWhereTheyDoNotApply) {
  BenchReport report = Report();
  EXPECT_FALSE(nlohmann::json::parse(ToJson(report)).contains("root"));
  report.kind = CallKind::kBroadcast;
  report.root = 2;
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json.at("op"), "broadcast");
  EXPECT_EQ(json.at("root"), 2);
  EXPECT_FALSE(json.contains("redop"));
}

TEST(ReportTest, AWorkersLineRoundTrips) {
  for (const WorkerMessage& message :
       {WorkerMessage(kRow), WorkerMessage(Formed{"1 shm, 1 tcp"})}) {
    const std::string line = ToLine(message);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(ParseLine(line).value(), message);
  }
}

TEST(ReportTest, IgnoresLinesThatAreNotMessages) {
  EXPECT_EQ(ParseLine("host:1:1 RINGLET INFO hello").value(), std::nullopt);
  EXPECT_EQ(ParseLine("{\"links\": \"\"}").value(), std::nullopt);
  EXPECT_EQ(ParseLine("").value(), std::nullopt);
}

TEST(ReportTest, ABrokenMessageIsAnError) {
  for (const char* line : {"\x1e", "\x1e{", "\x1e{}", "\x1e{\"links\": 3}", "\x1e[1]"})
    EXPECT_FALSE(ParseLine(line).ok()) << line;
}

}  // namespace
}  // namespace ringlet::cli
