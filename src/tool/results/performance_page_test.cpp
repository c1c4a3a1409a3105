#include "tool/results/performance_page.hpp"

#include <gmock/gmock.h>

#include "base/value/text.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

ResultRun RunOf(const std::string& operation, std::vector<ResultRow> rows) {
  return {.operation = operation,
          .ranks = 2,
          .layout = {},
          .peers = {"Gloo", "Open MPI"},
          .rows = std::move(rows),
          .note = {}};
}

ResultFile FileOf(std::vector<ResultRun> runs) {
  ResultFile file;
  file.what = "One host";
  file.where = "2 cores";
  file.when = "2026-11-23";
  file.beside = {"Gloo 0.5", "Open MPI 5"};
  file.command = "ringlet bench";
  file.runs = std::move(runs);
  return file;
}

TEST(PerformancePageTest, RunsOfALayoutAreATable) {
  const std::string page = PerformancePage(
      {FileOf({RunOf("all_reduce", {{8, 0.172, {{"Gloo", 148.4}, {"Open MPI", 0.26}}},
                                    {1 << 20, 1500, {{"Gloo", 2122.4}}}}),
               RunOf("broadcast", {{8, {}, {{"Gloo", 14.04}}}})})});
  EXPECT_THAT(page, testing::StartsWith("# Performance\n\n"));
  EXPECT_THAT(page,
              HasSubstr("\n## One host\n\nMachine: 2 cores. Date: 2026-11-23. Beside: Gloo 0.5; "
                        "Open MPI 5. Command: `ringlet bench`.\n"));
  EXPECT_THAT(page, HasSubstr("**2 ranks**, us: **Ringlet** Gloo / Open MPI\n\n"
                              "| operation | 8 B | 1 MiB |\n|---|---|---|\n"
                              "| all_reduce | **0.172** 148 / 0.26 | **1,500** 2,122 / - |\n"
                              "| broadcast | **-** 14 / - |  |\n"));
  EXPECT_THAT(page, HasSubstr("\nRinglet is nowhere behind in these tables.\n"));
}

TEST(PerformancePageTest, EachCellInWhichAnotherIsFasterIsListed) {
  const std::string page =
      PerformancePage({FileOf({RunOf("all_reduce", {{8, 2, {{"Gloo", 1}, {"Open MPI", 2}}},
                                                    {64, 2, {{"Gloo", 1.999}, {"Open MPI", 3}}}}),
                               RunOf("reduce", {{8, 4, {{"Gloo", 3}}}})})});
  EXPECT_THAT(page,
              HasSubstr("* 2 ranks, Gloo: all_reduce 8 B 0.50, all_reduce 64 B 1.000, reduce 8 "
                        "B 0.75.\n"));
  EXPECT_THAT(page, Not(HasSubstr("* 2 ranks, Open MPI")));
}

TEST(PerformancePageTest, LayoutsAreTablesOfTheirOwn) {
  ResultRun hosts = RunOf("all_reduce", {{8, 3, {}}});
  hosts.layout = "4 hosts";
  hosts.note = {"A note."};
  const std::string page = PerformancePage({FileOf({RunOf("all_reduce", {{8, 2, {}}}), hosts})});
  EXPECT_THAT(page, HasSubstr("**2 ranks**, us"));
  EXPECT_THAT(page, HasSubstr("**4 hosts**, us"));
  EXPECT_THAT(page, HasSubstr("\nA note.\n"));
}

TEST(PerformancePageTest, OtherTablesStandAsTheyAreAndPartsInTheirOrder) {
  ResultFile first = FileOf({}), second = FileOf({});
  first.what = "Later";
  first.order = 2;
  second.order = 1;
  second.note = {"See [the decision](decisions/1.md)."};
  second.tables = {{.title = "T", .columns = {"a", "b"}, .rows = {{"1", ""}}, .note = {"N."}}};
  second.after = {"End."};
  const std::string page = PerformancePage({first, second});
  EXPECT_LT(page.find("## One host"), page.find("## Later"));
  EXPECT_THAT(page, HasSubstr("\nSee [the decision](decisions/1.md).\n"
                              "\n**T**\n\n| a | b |\n|---|---|\n| 1 |  |\n\nN.\n\nEnd.\n"));
  EXPECT_THAT(page, Not(HasSubstr("behind in these")));
}

}  // namespace
}  // namespace ringlet::cli
