#include "frontends/cli/bench_tune.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using collective::Algorithm;
using collective::CallKind;
using collective::TunedChoice;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(BenchTuneTest, TheFastestOfEachSizeIsChosenAndEqualNeighboursAreOne) {
  const std::vector<AlgorithmTimes> times = {
      {CallKind::kAllReduce, Algorithm::kRing, {{16, 9}, {64, 9}, {256, 9}, {1024, 9}}},
      {CallKind::kAllReduce, Algorithm::kDoubling, {{16, 1}, {64, 2}, {256, 30}, {1024, 50}}},
      {CallKind::kBroadcast, Algorithm::kBinomial, {{16, 1}}}};
  EXPECT_THAT(
      FastestOf(times, 8, 2),
      ElementsAre(
          TunedChoice{CallKind::kAllReduce, 8, 2, 128, Algorithm::kDoubling},
          TunedChoice{CallKind::kAllReduce, 8, 2, collective::kAnyBytes, Algorithm::kRing},
          TunedChoice{CallKind::kBroadcast, 8, 2, collective::kAnyBytes, Algorithm::kBinomial}));
}

TEST(BenchTuneTest, WithoutATaskTheToolSaysWhatThereIs) {
  CLI::App tool("ringlet");
  Action chosen;
  CLI::App* bench = tool.add_subcommand("bench", "");
  AddBenchTune(*bench, chosen);
  tool.parse("bench", false);
  testing::internal::CaptureStderr();
  EXPECT_EQ(chosen(), kExitUsage);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("name an operation"));
  EXPECT_THROW(tool.parse("bench -n 3", false), CLI::ParseError);
}

}  // namespace
}  // namespace ringlet::cli
