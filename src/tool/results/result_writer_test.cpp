#include "tool/results/result_writer.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "os/fs/file_tree.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

BenchReport MeasuredReport(CallKind kind) {
  BenchReport report{.kind = kind, .ranks = 4, .links = "3 shm", .peers = {"gloo"}};
  report.rows = {{.bytes = 8, .count = 2, .out_of_place = Measurement{.time_us = 1.5}}};
  report.rows[0].peers["gloo"] = {.time_us = 30};
  return report;
}

const ResultHead kHead{.where = "2 cores",
                       .when = "2026-11-23",
                       .command = "ringlet bench all_reduce",
                       .layout = "2 hosts",
                       .beside = {"Gloo 0.5"}};

TEST(ResultWriterTest, AddsReportsToAFileOfResults) {
  os::TempTree tree;
  const std::string path = tree.At("mine.json");
  ASSERT_TRUE(AddResult(path, kHead, MeasuredReport(CallKind::kAllReduce)).ok());
  ASSERT_TRUE(AddResult(path, kHead, MeasuredReport(CallKind::kBroadcast)).ok());
  const std::string text = os::FileTree::Open(tree.root()).value().Read("mine.json").value();
  const auto file = nlohmann::json::parse(text);
  EXPECT_EQ(file.at("where"), "2 cores");
  EXPECT_THAT(file.at("beside"), ElementsAre("Gloo 0.5"));
  ASSERT_EQ(file.at("runs").size(), 2u);
  const auto& runs = file.at("runs");
  EXPECT_EQ(runs[1].at("op"), "broadcast");
  EXPECT_EQ(runs[1].at("layout"), "2 hosts");
  EXPECT_EQ(runs[0].at("rows").at(0).at("time_us"), 1.5);
  EXPECT_EQ(runs[0].at("rows").at(0).at("peers").at("gloo").at("time_us"), 30.0);
}

TEST(ResultWriterTest, RefusesFilesOfAnotherDayAndOtherFiles) {
  os::TempTree tree;
  const std::string path = tree.At("mine.json");
  ASSERT_TRUE(AddResult(path, kHead, MeasuredReport(CallKind::kAllReduce)).ok());
  ResultHead later = kHead;
  later.when = "2026-11-24";
  const Status refused = AddResult(path, later, MeasuredReport(CallKind::kAllReduce));
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("has results of 2026-11-23"));
  tree.Write("notes.txt", "mine");
  EXPECT_FALSE(AddResult(tree.At("notes.txt"), kHead, MeasuredReport(CallKind::kReduce)).ok());
  tree.Write("list.json", R"({"what": 1, "beside": [], "runs": []})");
  EXPECT_FALSE(AddResult(tree.At("list.json"), kHead, MeasuredReport(CallKind::kReduce)).ok());
  EXPECT_EQ(os::FileTree::Open(tree.root()).value().Read("notes.txt").value(), "mine");
}

}  // namespace
}  // namespace ringlet::cli
