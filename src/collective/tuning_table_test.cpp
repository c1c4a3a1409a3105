#include "collective/tuning_table.hpp"

#include <gmock/gmock.h>

namespace ringlet::collective {
namespace {

using testing::HasSubstr;

const TuningTable kTable({{CallKind::kAllReduce, 8, 4, kAnyBytes, Algorithm::kRing},
                          {CallKind::kAllReduce, 8, 4, 4096, Algorithm::kDoubling},
                          {CallKind::kAllReduce, 4, 1, 1024, Algorithm::kHalving},
                          {CallKind::kBroadcast, 8, 4, kAnyBytes, Algorithm::kHierarchical}});

std::string ErrorOf(const std::string& lines) {
  const auto table = TuningTable::Parse("ringlet-tuning 1\n" + lines, "/x/tuned");
  return table.ok() ? "no error" : table.error().message;
}

TEST(TuningTableTest, TheSmallestThatReachesCounts) {
  const auto chosen = [](std::size_t bytes) {
    return kTable.For(CallKind::kAllReduce, 8, 4, bytes);
  };
  EXPECT_EQ(chosen(0), Algorithm::kDoubling);
  EXPECT_EQ(chosen(4096), Algorithm::kDoubling);
  EXPECT_EQ(chosen(4097), Algorithm::kRing);
  EXPECT_EQ(chosen(kAnyBytes), Algorithm::kRing);
}

TEST(TuningTableTest, WhatWasNotMeasuredIsNotChosen) {
  EXPECT_EQ(kTable.For(CallKind::kAllReduce, 8, 2, 8), std::nullopt);
  EXPECT_EQ(kTable.For(CallKind::kAllReduce, 4, 1, 1025), std::nullopt);
  EXPECT_EQ(kTable.For(CallKind::kReduce, 8, 4, 8), std::nullopt);
  EXPECT_EQ(TuningTable().For(CallKind::kAllReduce, 1, 1, 8), std::nullopt);
}

TEST(TuningTableTest, ComesBackAsItWasWritten) {
  EXPECT_EQ(TuningTable::Parse(kTable.ToText("two\tcores"), "x").value(), kTable);
  EXPECT_EQ(TuningTable::Parse(TuningTable().ToText(""), "x").value(), TuningTable());
}

TEST(TuningTableTest, MistakesAreNamedWithFileAndLine) {
  EXPECT_EQ(ErrorOf("# nothing\n\n"), "no error");
  EXPECT_THAT(ErrorOf("\nall_reduce ranks 4"), HasSubstr("/x/tuned, line 3: a line is OPERATION"));
  EXPECT_THAT(ErrorOf("all_sum ranks 4 hosts 1 bytes 8 ring"), HasSubstr("\"all_sum\" is no op"));
  EXPECT_THAT(ErrorOf("all_reduce ranks 0 hosts 1 bytes 8 ring"), HasSubstr("\"0\" is no number"));
  EXPECT_THAT(ErrorOf("all_reduce ranks 2 hosts 4 bytes 8 ring"), HasSubstr("more hosts"));
  EXPECT_THAT(ErrorOf("all_reduce ranks 2 hosts 1 bytes -1 ring"), HasSubstr("\"-1\" is no"));
  EXPECT_THAT(ErrorOf("all_reduce ranks 2 hosts 1 bytes 8 bruck"), HasSubstr("\"bruck\" is no"));
  EXPECT_THAT(ErrorOf("all_reduce ranks 2 hosts 1 bytes 8 hierarchical"), HasSubstr("one host"));
  EXPECT_EQ(ErrorOf("all_reduce ranks 2 hosts 2 bytes 8 hierarchical"), "no error");
  EXPECT_THAT(ErrorOf("all_reduce ranks 2 hosts 1 bytes 8 ring\n"
                      "all_reduce ranks 2 hosts 1 bytes 8 halving"),
              HasSubstr("twice"));
  const auto other = TuningTable::Parse("all_reduce", "/x/tuned");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("/x/tuned, line 1"));
}

}  // namespace
}  // namespace ringlet::collective
