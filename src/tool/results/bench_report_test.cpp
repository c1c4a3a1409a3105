#include "tool/results/bench_report.hpp"

#include <gmock/gmock.h>

#include "os/fs/file_tree.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "tool/text/golden_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kFile =
    R"({"what": "W", "where": "m", "when": "2026-11-23",
        "tables": [{"columns": ["a"], "rows": [[1]]}]})";

TEST(BenchReportTest, ThePageOfFiguresIsMadeFromTheResults) {
  const ToolRun ran = RunCommand({"bench", "report", SourceFile("bench/results")});
  ASSERT_EQ(ran.status, kExitDone) << ran.errors;
  ExpectPage("docs/performance.md", ran.output);
}

TEST(BenchReportTest, FoldersAndFilesMakeOnePage) {
  os::TempTree tree;
  tree.Write("results/b.json", kFile)
      .Write("results/README.md", "no result")
      .Write("c.json", kFile);
  const ToolRun ran = RunCommand(
      {"bench", "report", tree.At("results"), tree.At("c.json"), "-o", tree.At("page.md")});
  ASSERT_EQ(ran.status, kExitDone) << ran.errors;
  EXPECT_EQ(ran.output, "");
  const std::string page = os::FileTree::Open(tree.root()).value().Read("page.md").value();
  EXPECT_NE(page.find("## W"), page.rfind("## W"));
}

TEST(BenchReportTest, RunsOfSeveralSizesAreDrawn) {
  os::TempTree tree;
  tree.Write("a.json", R"({"what": "One host", "where": "m", "when": "2026-11-23", "runs": [
      {"op": "all_reduce", "ranks": 2, "peers": ["Gloo"], "rows": [
        {"size": 8, "time_us": 1, "peers": {"Gloo": {"time_us": 9}}},
        {"size": 64, "time_us": 2, "peers": {"Gloo": {"time_us": 10}}}]},
      {"op": "barrier", "ranks": 2, "rows": [{"size": 0, "time_us": 1}]}]})");
  tree.Directory("charts");
  const ToolRun ran =
      RunCommand({"bench", "report", tree.At("a.json"), "--charts", tree.At("charts")});
  ASSERT_EQ(ran.status, kExitDone) << ran.errors;
  const os::FileTree charts = os::FileTree::Open(tree.At("charts")).value();
  const std::string svg = charts.Read("one-host-all-reduce-2-ranks.svg").value();
  EXPECT_THAT(svg, testing::AllOf(HasSubstr("<svg"), HasSubstr("Gloo"), HasSubstr("2 ranks")));
  EXPECT_FALSE(charts.Read("one-host-barrier-2-ranks.svg").ok());
}

TEST(BenchReportTest, AWrongFileLeavesThePageAsItIs) {
  os::TempTree tree;
  tree.Write("a.json", "{}").Write("page.md", "kept");
  const ToolRun ran = RunCommand({"bench", "report", tree.At("a.json"), "-o", tree.At("page.md")});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("a.json is no file of results: the file: what is missing"));
  EXPECT_EQ(os::FileTree::Open(tree.root()).value().Read("page.md").value(), "kept");
  EXPECT_EQ(RunCommand({"bench", "report", tree.At("none.json")}).status, kExitUsage);
  tree.Directory("empty");
  EXPECT_THAT(RunCommand({"bench", "report", tree.At("empty")}).errors, HasSubstr("no .json file"));
}

}  // namespace
}  // namespace ringlet::cli
