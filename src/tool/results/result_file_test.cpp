#include "tool/results/result_file.hpp"

#include <gmock/gmock.h>

#include "tool/results/report.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kBegin = R"({"what": "w", "where": "m", "when": "2026-11-23", )";

std::string WhyNot(const std::string& text) {
  const auto file = ParseResultFile("x.json", text);
  return file.ok() ? "taken" : file.error().message;
}

TEST(ResultFileTest, AllKeysAreRead) {
  const ResultFile file = ParseResultFile("x.json", kBegin + R"(
      "beside": ["Gloo 0.5"], "commit": "abc", "command": "c", "order": 7, "note": ["n"],
      "self": "us", "after": ["a"],
      "runs": [{"op": "all_reduce", "ranks": 2, "layout": "l", "peers": ["gloo"], "note": ["r"],
                "links": "2 shm", "rows": [
                  {"size": 8, "time_us": 1.5, "peers": {"gloo": {"time_us": 3}}},
                  {"size": 64, "in_place": {"time_us": 2}, "peers": {"gloo": {}}},
                  {"size": 128}]}],
      "tables": [{"title": "t", "columns": ["a", "b"], "rows": [[1234, "x"], [0.5, null]],
                  "note": ["tn"]}]})")
                              .value();
  EXPECT_EQ(file.order, 7);
  EXPECT_EQ(file.self, "us");
  const ResultRun& run = file.runs.at(0);
  EXPECT_EQ(run.layout, "l");
  EXPECT_EQ(run.rows.at(0).us, 1.5);
  EXPECT_EQ(run.rows.at(0).peers.at("gloo"), 3.0);
  EXPECT_EQ(run.rows.at(1).us, 2.0);
  EXPECT_TRUE(run.rows.at(1).peers.empty());
  EXPECT_FALSE(run.rows.at(2).us.has_value());
  EXPECT_THAT(file.tables.at(0).rows,
              ElementsAre(ElementsAre("1,234", "x"), ElementsAre("0.5", "")));
}

TEST(ResultFileTest, ARunIsWhatBenchPrints) {
  BenchReport report{.ranks = 4, .links = "3 shm"};
  report.rows = {{.bytes = 8, .count = 2, .out_of_place = Measurement{.time_us = 1.5}}};
  const auto file = ParseResultFile("x.json", kBegin + "\"runs\": [" + ToJson(report) + "]}");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->runs.at(0).operation, "all_reduce");
  EXPECT_EQ(file->runs.at(0).rows.at(0).us, 1.5);
}

TEST(ResultFileTest, AnErrorNamesTheFileAndTheKey) {
  EXPECT_THAT(WhyNot("{"), AllOf(HasSubstr("x.json"), HasSubstr("no JSON")));
  EXPECT_THAT(WhyNot("[]"), HasSubstr("no object"));
  EXPECT_THAT(WhyNot(R"({"what": "w", "where": "m", "runs": []})"), HasSubstr("when is missing"));
  EXPECT_THAT(WhyNot(R"({"what": "w", "where": "m", "when": "d"})"), HasSubstr("runs and tables"));
  EXPECT_THAT(WhyNot(kBegin + R"("runs": [], "speed": 1})"), HasSubstr("\"speed\" is no key"));
  EXPECT_THAT(WhyNot(kBegin + R"("runs": {}})"), HasSubstr("runs is no list"));
  EXPECT_THAT(WhyNot(kBegin + R"("runs": [], "order": "first"})"), HasSubstr("order is no number"));
  EXPECT_THAT(WhyNot(kBegin + R"("runs": [], "beside": [1]})"), HasSubstr("beside"));
  EXPECT_THAT(WhyNot(kBegin + R"("runs": [{"op": "x", "ranks": 2}]})"),
              HasSubstr("runs[0]: rows is missing"));
  EXPECT_THAT(WhyNot(kBegin + R"("runs": [{"op": "x", "ranks": 2, "rows": [{"size": 1,
              "time_us": "fast"}]}]})"),
              HasSubstr("runs[0].rows[0]: time_us is no number"));
  EXPECT_THAT(WhyNot(kBegin + R"("tables": [{"columns": ["a"], "rows": [[1, 2]]}]})"),
              HasSubstr("as long as columns"));
  EXPECT_THAT(WhyNot(kBegin + R"("tables": [{"columns": ["a"], "rows": [[true]]}]})"),
              HasSubstr("a cell is"));
}

}  // namespace
}  // namespace ringlet::cli
