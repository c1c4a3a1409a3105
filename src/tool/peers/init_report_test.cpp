#include "tool/peers/init_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

Repetition Sample(double total) {
  return {.total_ms = total,
          .phases = {.check_in = total / 2, .roster = total / 4, .connect = 0.5, .go = 0.25},
          .cpu_ms = 2 * total,
          .connections = 1.875,
          .bytes = 1000,
          .system_calls = 42.5};
}

InitReport SampleReport() {
  return {.head = {.ranks = 8,
                   .tree = false,
                   .threads = false,
                   .processes = 8,
                   .together = true,
                   .roots = 2},
          .repetitions = {Sample(9), Sample(1), Sample(3)},
          .peers = {{"gloo", 30, ""}, {"mpi", {}, "not measured: no program"}, {"gloo", 12, ""}}};
}

TEST(InitReportTest, MediansAreTakenPerField) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({3, 1}), 2);
  EXPECT_EQ(Median({5, 1, 3}), 3);
  EXPECT_EQ(MedianOf(SampleReport().repetitions), Sample(3));
}

TEST(InitReportTest, JsonHasMediansAndEveryRepetitionOnOneLine) {
  const std::string text = InitJson(SampleReport());
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("n"), 8);
  EXPECT_EQ(json.at("mode"), "ring");
  EXPECT_EQ(json.at("as"), "processes");
  EXPECT_EQ(json.at("total_ms"), 3.0);
  EXPECT_EQ(json.at("min_ms"), 1.0);
  EXPECT_EQ(json.at("max_ms"), 9.0);
  EXPECT_EQ(json.at("phases_ms").at("check_in"), 1.5);
  EXPECT_EQ(json.at("check_in"), "leaders");
  EXPECT_EQ(json.at("roots"), 2);
  EXPECT_EQ(json.at("system_calls_per_rank"), 42.5);
  ASSERT_EQ(json.at("repetitions").size(), 3u);
  EXPECT_EQ(json.at("repetitions")[0].at("total_ms"), 9.0);
  EXPECT_EQ(json.at("repetitions")[0].at("phases_ms").at("roster"), 2.25);
  EXPECT_EQ(json.at("vs").at("gloo").at("total_ms"), 21.0);
  EXPECT_EQ(json.at("vs").at("gloo").at("repetitions_ms").size(), 2u);
  EXPECT_TRUE(json.at("vs").at("mpi").at("total_ms").is_null());
  EXPECT_EQ(json.at("vs").at("mpi").at("trouble"), "not measured: no program");
}

TEST(InitReportTest, TheTableNamesEachPeerAndMissingPrograms) {
  EXPECT_THAT(InitHeadText(7), HasSubstr("medians of 7 repetitions"));
  const std::string text = InitRowText(SampleReport());
  EXPECT_THAT(text, HasSubstr("8 ring processes     8 |    3.000    1.000    9.000 |    1.500"));
  EXPECT_THAT(text, HasSubstr("8 gloo processes       |     21.0     12.0     30.0 | 7.0 times"));
  EXPECT_THAT(text, HasSubstr("# mpi: not measured: no program\n"));
}

TEST(InitReportTest, LinesRoundTrip) {
  for (const InitMessage& message : {InitMessage(Sample(4)), InitMessage(PeerRun{"gloo", 2.5, ""}),
                                     InitMessage(PeerRun{"mpi", {}, "gone"})}) {
    const std::string line = ToLine(message);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto back = ParseInitLine(line);
    ASSERT_TRUE(back.ok());
    ASSERT_TRUE(back->has_value());
    EXPECT_EQ(**back, message);
  }
}

TEST(InitReportTest, IgnoresOtherLinesAndRejectsBrokenOnes) {
  const auto log_line = ParseInitLine("[0] Init COMPLETE");
  ASSERT_TRUE(log_line.ok());
  EXPECT_FALSE(log_line->has_value());
  for (const char* const broken : {"\x1e", "\x1e{}", "\x1e{\"peer\":3}", "\x1e{\"total_ms\":1}"})
    EXPECT_FALSE(ParseInitLine(broken).ok()) << broken;
}

}  // namespace
}  // namespace ringlet::cli
