#include "collective/select/tuning_table.hpp"

#include <gmock/gmock.h>

#include "base/value/text.hpp"

namespace ringlet::collective {
namespace {

using testing::HasSubstr;

const TuningTable kTable({{CallKind::kAllReduce, 8, 4, kAnyBytes, Algorithm::kRing},
                          {CallKind::kAllReduce, 8, 4, 4096, Algorithm::kDoubling},
                          {CallKind::kAllReduce, 4, 1, 1024, Algorithm::kHalving},
                          {CallKind::kBroadcast, 8, 4, kAnyBytes,
                           Hierarchical(Within::kLinks, Between::kRing)}});

std::string ErrorOf(const std::string& lines) {
  const auto table = TuningTable::Parse("ringlet-tuning 1\n" + lines, "/x/tuned");
  return table.ok() ? "no error" : table.error().message;
}

TEST(TuningTableTest, TheSmallestSufficientSizeApplies) {
  const auto chosen = [](std::size_t bytes) {
    return kTable.For(CallKind::kAllReduce, 8, 4, bytes, false);
  };
  EXPECT_EQ(chosen(0), Algorithm::kDoubling);
  EXPECT_EQ(chosen(4096), Algorithm::kDoubling);
  EXPECT_EQ(chosen(4097), Algorithm::kRing);
  EXPECT_EQ(chosen(kAnyBytes), Algorithm::kRing);
}

TEST(TuningTableTest, UnmeasuredAlgorithmsAreNotChosen) {
  EXPECT_EQ(kTable.For(CallKind::kAllReduce, 8, 2, 8, false), std::nullopt);
  EXPECT_EQ(kTable.For(CallKind::kAllReduce, 4, 1, 1025, false), std::nullopt);
  EXPECT_EQ(kTable.For(CallKind::kReduce, 8, 4, 8, false), std::nullopt);
  EXPECT_EQ(TuningTable().For(CallKind::kAllReduce, 1, 1, 8, false), std::nullopt);
}

TEST(TuningTableTest, TextRoundTrips) {
  EXPECT_EQ(TuningTable::Parse(kTable.ToText("two\tcores"), "x").value(), kTable);
  EXPECT_EQ(TuningTable::Parse(TuningTable().ToText(""), "x").value(), TuningTable());
}

TEST(TuningTableTest, LinesForSharedMemoryApplyToSharedMemoryOnly) {
  const TuningTable table({{CallKind::kAllReduce, 4, 1, kAnyBytes, Algorithm::kRing},
                           {CallKind::kAllReduce, 4, 1, 8192, Algorithm::kOneShot},
                           {CallKind::kAllReduce, 4, 1, kAnyBytes, Algorithm::kSlices}});
  EXPECT_EQ(table.For(CallKind::kAllReduce, 4, 1, 8, false), Algorithm::kRing);
  EXPECT_EQ(table.For(CallKind::kAllReduce, 4, 1, 8, true), Algorithm::kOneShot);
  EXPECT_EQ(table.For(CallKind::kAllReduce, 4, 1, 8193, true), Algorithm::kSlices);
  EXPECT_EQ(table.For(CallKind::kAllReduce, 3, 1, 8, true), std::nullopt);
  EXPECT_EQ(table.BoundsOf(CallKind::kAllReduce, 4), (std::vector<std::size_t>{8192, kAnyBytes}));
  EXPECT_EQ(TuningTable::Parse(table.ToText(""), "x").value(), table);
}

TEST(TuningTableTest, RefusesSizesBeyondTheLimitsOfSharedMemory) {
  EXPECT_EQ(ErrorOf("all_reduce ranks 4 hosts 1 bytes 32768 one_shot"), "no error");
  EXPECT_EQ(ErrorOf("barrier ranks 4 hosts 1 bytes any one_shot"), "no error");
  EXPECT_EQ(ErrorOf("all_reduce ranks 4 hosts 1 bytes 32769 one_shot"),
            "/x/tuned, line 2: one_shot of all_reduce among 4 ranks takes at most 32768 bytes");
  EXPECT_EQ(ErrorOf("all_to_all ranks 4 hosts 1 bytes any one_shot"),
            "/x/tuned, line 2: one_shot of all_to_all among 4 ranks takes at most 8192 bytes");
  EXPECT_THAT(ErrorOf("all_reduce ranks 4 hosts 1 bytes any fetch"),
              HasSubstr("\"fetch\" is not an algorithm of all_reduce on one host"));
  EXPECT_THAT(ErrorOf("all_reduce ranks 4 hosts 2 bytes any slices"),
              HasSubstr("\"slices\" is not an algorithm of all_reduce on several hosts"));
}

TEST(TuningTableTest, MeasuredLinksReplaceThoseOfTheModel) {
  const CostModel model;
  EXPECT_EQ(kTable.WithMeasuredLinks(model), model);
  const LinkCost slow{.latency_ns = 7, .overhead_ns = 8, .mb_per_s = 9};
  const TuningTable table({}, {.local = {}, .remote = slow});
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.WithMeasuredLinks(model).remote, slow);
  EXPECT_EQ(table.WithMeasuredLinks(model).local, model.local);
  EXPECT_EQ(TuningTable::Parse(table.ToText(""), "x").value(), table);
  EXPECT_EQ(
      TuningTable::Parse("ringlet-tuning 1\nlink local latency_ns 1 overhead_ns 2 mb_per_s 3", "x")
          ->WithMeasuredLinks(model)
          .local,
      (LinkCost{1, 2, 3}));
}

TEST(TuningTableTest, RefusesMalformedLinksByLine) {
  EXPECT_THAT(ErrorOf("link local"), HasSubstr("line 2: a link is link local|remote"));
  EXPECT_THAT(ErrorOf("link near latency_ns 1 overhead_ns 1 mb_per_s 1"), HasSubstr("a link is"));
  EXPECT_THAT(ErrorOf("link local latency_ns 0 overhead_ns 1 mb_per_s 1"),
              HasSubstr("\"0\" is not a value of latency_ns from 1 to"));
  EXPECT_THAT(ErrorOf("link local latency_ns 1 overhead_ns 1 mb_per_s 99999999"),
              HasSubstr("is not a value of mb_per_s"));
  EXPECT_THAT(ErrorOf("link local latency_ns 1 overhead_ns 1 mb_per_s 1\n"
                      "link local latency_ns 1 overhead_ns 1 mb_per_s 1"),
              HasSubstr("line 3: local links are described twice"));
}

/// Returns `line` with word number `at` replaced.
std::string With(std::string_view line, std::size_t at, std::string_view word) {
  std::string text;
  for (const std::string_view each : Split(line, ' '))
    text += std::string(at-- == 0 ? word : each) + " ";
  return text;
}

TEST(TuningTableTest, RefusesLinesWithMissingOrExtraWords) {
  constexpr std::string_view kLine = "all_reduce ranks 4 hosts 2 bytes 8 ring";
  constexpr std::string_view kLink = "link remote latency_ns 1 overhead_ns 1 mb_per_s 1";
  EXPECT_EQ(ErrorOf(With(kLine, 99, "")), "no error");
  EXPECT_EQ(ErrorOf(With(kLink, 99, "")), "no error");
  for (const std::size_t at : {1u, 3u, 5u})
    EXPECT_THAT(ErrorOf(With(kLine, at, "x")), HasSubstr("a line is OPERATION")) << at;
  for (const std::size_t at : {1u, 2u, 4u, 6u})
    EXPECT_THAT(ErrorOf(With(kLink, at, "x")), HasSubstr("a link is link local|remote")) << at;
  for (const std::string_view line : {kLine, kLink}) {
    const std::string longer = std::string(line) + " more";
    EXPECT_THAT(ErrorOf(longer), HasSubstr(" is "));
    EXPECT_THAT(ErrorOf(longer.substr(0, line.rfind(' '))), HasSubstr(" is "));
  }
}

TEST(TuningTableTest, BoundsOfNumbersAreInclusive) {
  constexpr std::string_view kLine = "all_reduce ranks 4 hosts 2 bytes 8 ring";
  EXPECT_EQ(ErrorOf(With(kLine, 2, "1048576")), "no error");
  EXPECT_THAT(ErrorOf(With(kLine, 2, "1048577")), HasSubstr("is not a number of ranks"));
  constexpr std::string_view kLink = "link remote latency_ns 1 overhead_ns 1 mb_per_s 1";
  for (const std::size_t at : {3u, 5u}) {
    EXPECT_EQ(ErrorOf(With(kLink, at, "1000000000")), "no error");
    EXPECT_THAT(ErrorOf(With(kLink, at, "1000000001")), HasSubstr("from 1 to 1000000000"));
  }
  EXPECT_EQ(ErrorOf(With(kLink, 7, "10000000")), "no error");
  EXPECT_THAT(ErrorOf(With(kLink, 7, "10000001")), HasSubstr("from 1 to 10000000"));
}

TEST(TuningTableTest, BoundsTheNumberOfLines) {
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "all_reduce ranks 4 hosts 1 bytes 8 ring\n";
  EXPECT_THAT(ErrorOf(lines), HasSubstr("has two choices"));
  EXPECT_THAT(ErrorOf(lines + "all_reduce ranks 4 hosts 1 bytes 8 ring"),
              HasSubstr("line 100002: there are too many lines"));
}

TEST(TuningTableTest, ErrorsStateFileAndLine) {
  EXPECT_EQ(ErrorOf("# nothing\n\n"), "no error");
  EXPECT_THAT(ErrorOf("\nall_reduce ranks 4"), HasSubstr("/x/tuned, line 3: a line is OPERATION"));
  EXPECT_THAT(ErrorOf("all_sum ranks 4 hosts 1 bytes 8 ring"),
              HasSubstr("\"all_sum\" is not an op"));
  EXPECT_THAT(ErrorOf("all_reduce ranks 0 hosts 1 bytes 8 ring"),
              HasSubstr("\"0\" is not a number"));
  EXPECT_THAT(ErrorOf("all_reduce ranks 2 hosts 4 bytes 8 ring"), HasSubstr("more hosts"));
  EXPECT_THAT(ErrorOf("all_reduce ranks 2 hosts 1 bytes -1 ring"), HasSubstr("\"-1\" is no"));
  EXPECT_THAT(ErrorOf("all_reduce ranks 2 hosts 1 bytes 8 bruck"), HasSubstr("\"bruck\" is no"));
  EXPECT_THAT(ErrorOf("all_reduce ranks 2 hosts 1 bytes 8 hierarchical"), HasSubstr("one host"));
  EXPECT_EQ(ErrorOf("all_reduce ranks 2 hosts 2 bytes 8 hierarchical"), "no error");
  EXPECT_THAT(ErrorOf("all_reduce ranks 2 hosts 1 bytes 8 ring\n"
                      "all_reduce ranks 2 hosts 1 bytes 8 halving"),
              HasSubstr("two choices"));
  const auto other = TuningTable::Parse("all_reduce", "/x/tuned");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("/x/tuned, line 1"));
}

}  // namespace
}  // namespace ringlet::collective
