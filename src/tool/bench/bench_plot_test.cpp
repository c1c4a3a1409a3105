#include "tool/bench/bench_plot.hpp"

#include <gmock/gmock.h>

#include "tool/results/report.hpp"

namespace ringlet::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

BenchReport PlottedReport(std::uint32_t ranks) {
  BenchReport report{.ranks = ranks, .links = "2 shm"};
  report.rows = {{.bytes = 8, .count = 2, .out_of_place = Measurement{.time_us = 1.5}},
                 {.bytes = 64, .count = 16, .out_of_place = Measurement{.time_us = 3}}};
  report.rows[1].peers["gloo"] = {.time_us = 30};
  return report;
}

std::vector<std::string> NamesIn(const Chart& chart) {
  std::vector<std::string> names;
  for (const Curve& curve : chart.curves) names.push_back(curve.name);
  return names;
}

std::string PlotErrorOf(const std::string& text) {
  const auto chart = ChartOf({{"folder/a.json", text}});
  return chart.ok() ? "no error" : chart.error().message;
}

TEST(BenchPlotTest, AFileGivesACurvePerMeasuredLibrary) {
  const Chart chart = ChartOf({{"a.json", ToJson(PlottedReport(4))}}).value();
  EXPECT_EQ(chart.title, "all_reduce, 4 ranks");
  EXPECT_THAT(NamesIn(chart), ElementsAre("ringlet", "gloo"));
  EXPECT_THAT(chart.curves[0].points, ElementsAre(std::pair(8.0, 1.5), std::pair(64.0, 3.0)));
  EXPECT_THAT(chart.curves[1].points, ElementsAre(std::pair(64.0, 30.0)));
}

TEST(BenchPlotTest, ChoosesTheMatchingRunOfAFileOfResults) {
  const BenchFile results{
      "r.json", "{\"runs\": [" + ToJson(PlottedReport(2)) + "," + ToJson(PlottedReport(4)) + "]}"};
  const BenchFile chosen = ChosenRun(results, {.operation = "all_reduce", .ranks = 4}).value();
  EXPECT_EQ(ChartOf({chosen}).value().title, "all_reduce, 4 ranks");
  EXPECT_THAT(ChosenRun(results, {.operation = "all_reduce"}).error().message,
              HasSubstr("r.json has 2 runs that match; choose"));
  EXPECT_THAT(ChosenRun(results, {.ranks = 3}).error().message, HasSubstr("0 runs"));
  EXPECT_EQ(ChosenRun({"a.json", ToJson(PlottedReport(4))}, {}).value().text,
            ToJson(PlottedReport(4)));
}

TEST(BenchPlotTest, NamesDistinguishCurvesOfSeveralFiles) {
  EXPECT_THAT(
      NamesIn(ChartOf({{"a.json", ToJson(PlottedReport(2))}, {"b.json", ToJson(PlottedReport(4))}})
                  .value()),
      ElementsAre("all_reduce, 2 ranks: ringlet", "all_reduce, 2 ranks: gloo",
                  "all_reduce, 4 ranks: ringlet", "all_reduce, 4 ranks: gloo"));
  EXPECT_THAT(NamesIn(ChartOf({{"x/a.json", ToJson(PlottedReport(2))},
                               {"b.json", ToJson(PlottedReport(2))}})
                          .value()),
              ElementsAre("a: ringlet", "a: gloo", "b: ringlet", "b: gloo"));
}

TEST(BenchPlotTest, NamesAFileWithoutResults) {
  for (const char* text : {"", "{}", "[1]", "{\"op\": 1}", "not json"})
    EXPECT_THAT(PlotErrorOf(text), HasSubstr("folder/a.json")) << text;
  BenchReport nothing = PlottedReport(2);
  nothing.rows.clear();
  EXPECT_THAT(PlotErrorOf(ToJson(nothing)), HasSubstr("lacks a row"));
}

}  // namespace
}  // namespace ringlet::cli
