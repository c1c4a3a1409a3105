#include "tool/traffic/traffic_text.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/value/text.hpp"
#include "tool/emulate/traffic_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TrafficReport ReportOf(const std::vector<std::pair<std::string, TrafficFile>>& files) {
  return MergeTraffic(files).value();
}

TEST(TrafficTextTest, BytesHaveThreeDigits) {
  EXPECT_EQ(BytesText(std::uint64_t{0}), "0 B");
  EXPECT_EQ(BytesText(std::uint64_t{999}), "999 B");
  EXPECT_EQ(BytesText(std::uint64_t{1000}), "1.00 kB");
  EXPECT_EQ(BytesText(std::uint64_t{12'345}), "12.3 kB");
  EXPECT_EQ(BytesText(std::uint64_t{411'040'000}), "411 MB");
  EXPECT_EQ(BytesText(std::uint64_t{999'999}), "1.00 MB");
  EXPECT_EQ(BytesText(std::uint64_t{9'996}), "10.0 kB");
  EXPECT_EQ(BytesText(std::numeric_limits<std::uint64_t>::max()), "18.4 EB");
}

TEST(TrafficTextTest, AddsUpLinksOfAKind) {
  const auto kinds = TotalsByKind(ReportOf(TrafficForTest()));
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds.at("NET").links, 4u);
  EXPECT_EQ(kinds.at("NET").measured_bytes, 16'000u);
  EXPECT_EQ(kinds.at("PCI").planned_bytes, 8000u);
  EXPECT_DOUBLE_EQ(kinds.at("PCI").busiest_us, 4 / 24.0);
}

TEST(TrafficTextTest, JsonHasAllPartsOfTheReport) {
  auto files = TrafficForTest();
  files[0].second.links[0].measured_bytes = 1;
  files[0].second.ranks = files[1].second.ranks = 3;
  const auto json = ToJson(ReportOf(files));
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["findings"].size(), 2u);
  EXPECT_EQ(json["hosts"][1],
            (nlohmann::ordered_json{{"host", 1}, {"name", "b"}, {"identity", "beef"}}));
  const auto& communicator = json["communicators"][0];
  EXPECT_EQ(communicator["missing_ranks"], nlohmann::ordered_json({2}));
  EXPECT_EQ(communicator["by_rank"][0]["gpu"], "DEV/0-1000");
  EXPECT_EQ(communicator["by_rank"][1]["sent_bytes"], 4000);
  EXPECT_EQ(json["kinds"][0]["kind"], "NET");
  const auto& link = json["links"][0];
  EXPECT_EQ(link["kind"], "NET");
  EXPECT_EQ(link["measured_bytes"], 4000);
  EXPECT_EQ(link["planned_bytes"], 4000);
  EXPECT_DOUBLE_EQ(link["time_us"], 0.32);
  EXPECT_DOUBLE_EQ(link["load"], 1);
  EXPECT_EQ(json["links"].back()["measured_bytes"], 1);
  const auto& call = json["calls"][0];
  EXPECT_EQ(call["size"], 4000);
  EXPECT_EQ(call["algorithm"], "Ring");
  EXPECT_DOUBLE_EQ(call["predicted_us"], 8);
  EXPECT_DOUBLE_EQ(call["predicted_algbw_gb_s"], 0.5);
  EXPECT_DOUBLE_EQ(call["predicted_busbw_gb_s"], 0.5 * 2 * 2 / 3);
}

TEST(TrafficTextTest, TheChoiceOfNcclAndSlowerCallsStandBelowTheCall) {
  auto files = TrafficForTest();
  for (auto& [path, file] : files) {
    file.calls[0].slower_calls = 1;
    file.calls[0].algorithm->nccl_name = "NVLS";
    file.calls[0].algorithm->nccl_predicted_ns = 4000;
  }
  const TrafficReport report = ReportOf(files);
  EXPECT_THAT(ToText(report, 1), AllOf(HasSubstr(" NCCL itself takes NVLS: 4.0 us, busbw 1.00\n"),
                                       HasSubstr(" 1 of these took longer here than predicted")));
  const auto call = ToJson(report)["calls"][0];
  EXPECT_EQ(call["nccl_algorithm"], "NVLS");
  EXPECT_DOUBLE_EQ(call["nccl_predicted_us"], 4);
  EXPECT_DOUBLE_EQ(call["nccl_predicted_busbw_gb_s"], 1);
  EXPECT_EQ(call["slower_calls"], 1);
}

TEST(TrafficTextTest, SlowLinksStandBelowTheLinkAndBelowTheCall) {
  auto files = TrafficForTest();
  for (auto& [path, file] : files) {
    file.links[0].nominal_mb_per_s = 240'000;
    file.calls[0].algorithm->slowed_ns = 40'000;
  }
  const TrafficReport report = ReportOf(files);
  EXPECT_THAT(ToText(report, 9), AllOf(HasSubstr("     a slow link: of 240.0 GB/s\n"),
                                       HasSubstr(" with the slow links: 40.0 us, busbw 0.10\n")));
  const auto json = ToJson(report);
  EXPECT_EQ(json["calls"][0]["slowed_us"], 40);
  EXPECT_DOUBLE_EQ(json["calls"][0]["slowed_busbw_gb_s"], 0.1);
  EXPECT_EQ(json["links"].back()["nominal_mb_per_s"], 240'000);
  EXPECT_FALSE(ToJson(ReportOf(TrafficForTest()))["links"][0].contains("nominal_mb_per_s"));
}

TEST(TrafficTextTest, CallsWithoutAPredictionOmitFigures) {
  auto files = TrafficForTest();
  for (auto& [path, file] : files)
    file.calls = {{.function = "all_to_all", .count = 10, .bytes = 40, .calls = 1}};
  const TrafficReport report = ReportOf(files);
  EXPECT_FALSE(ToJson(report)["calls"][0].contains("predicted_us"));
  EXPECT_THAT(ToText(report, 1), AllOf(HasSubstr("all_to_all"), Not(HasSubstr("Ring"))));
}

TEST(TrafficTextTest, TheTextFitsATerminal) {
  auto files = TrafficForTest();
  for (auto& [path, file] : files)
    file.links[0].measured_bytes = file.links[0].planned_bytes = 99'999'999'999'999;
  const std::string text = ToText(ReportOf(files), 100);
  for (const std::string_view line : Split(text, '\n')) EXPECT_LE(line.size(), 99u) << line;
}

TEST(TrafficTextTest, TheTextNamesFindingsAndOmittedLinks) {
  auto files = TrafficForTest();
  std::string text = ToText(ReportOf(files), 2);
  EXPECT_THAT(
      text, AllOf(HasSubstr("# 2 ranks of 1 communicator on 2 hosts\n# host 0: a\n"),
                  HasSubstr("and 4 links that are less busy"),
                  HasSubstr("measured = planned on all 6 links"), HasSubstr("   8.0     0.50\n")));
  files[0].second.links[0].measured_bytes = 1;
  files[0].second.host = "a\x1b[2J";
  text = ToText(ReportOf(files), 20);
  EXPECT_THAT(text, AllOf(HasSubstr("found: host 1, DEV/0-1000 to NIC/0-2000: measured 1 bytes"),
                          Not(HasSubstr("less busy")), Not(HasSubstr("measured = planned")),
                          Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace ringlet::cli
