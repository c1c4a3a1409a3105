#include "tool/bench/bench_tune.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using collective::Algorithm;
using collective::CallKind;
using collective::TunedChoice;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(BenchTuneTest, ChoosesTheFastestPerSizeAndMergesEqualNeighbours) {
  const std::vector<AlgorithmTimes> times = {
      {CallKind::kAllReduce, Algorithm::kRing, false, {{16, 9}, {64, 9}, {256, 9}, {1024, 9}}},
      {CallKind::kAllReduce,
       Algorithm::kDoubling,
       false,
       {{16, 1}, {64, 2}, {256, 30}, {1024, 50}}},
      {CallKind::kBroadcast, Algorithm::kBinomial, false, {{16, 1}}}};
  EXPECT_THAT(
      FastestOf(times, 8, 2),
      ElementsAre(
          TunedChoice{CallKind::kAllReduce, 8, 2, 128, Algorithm::kDoubling},
          TunedChoice{CallKind::kAllReduce, 8, 2, collective::kAnyBytes, Algorithm::kRing},
          TunedChoice{CallKind::kBroadcast, 8, 2, collective::kAnyBytes, Algorithm::kBinomial}));
}

TEST(BenchTuneTest, ChoosesTheFirstOfEquallyFastAlgorithms) {
  const auto choices = FastestOf({{CallKind::kAllReduce, Algorithm::kRing, false, {{16, 9}}},
                                  {CallKind::kAllReduce, Algorithm::kDoubling, false, {{16, 9}}}},
                                 8, 2);
  EXPECT_THAT(choices, ElementsAre(TunedChoice{CallKind::kAllReduce, 8, 2, collective::kAnyBytes,
                                               Algorithm::kRing}));
}

TEST(BenchTuneTest, ChoosesSharedMemoryBesideAlgorithmsOverLinks) {
  const auto kind = CallKind::kAllReduce;
  const std::vector<AlgorithmTimes> times = {
      {kind, Algorithm::kRing, false, {{1024, 5}, {4 << 20, 300}}},
      {kind, Algorithm::kOneShot, false, {{1024, 1}}},
      {kind, Algorithm::kSlices, false, {{1024, 2}, {4 << 20, 200}}}};
  EXPECT_THAT(FastestOf(times, 2, 1),
              ElementsAre(TunedChoice{kind, 2, 1, collective::kAnyBytes, Algorithm::kRing},
                          TunedChoice{kind, 2, 1, 32 << 10, Algorithm::kOneShot},
                          TunedChoice{kind, 2, 1, collective::kAnyBytes, Algorithm::kSlices}))
      << "the middle, 64 KiB, is more than one_shot takes";
}

TEST(BenchTuneTest, RegisteredMemoryOnlyDecidesBetweenSlicesAndZeroCopy) {
  const auto kind = CallKind::kAllGather;
  const std::vector<AlgorithmTimes> times = {
      {kind, Algorithm::kOneShot, false, {{16, 1}}},
      {kind, Algorithm::kSlices, false, {{16, 2}, {64, 2}, {256, 2}, {1024, 9}}},
      {kind, Algorithm::kFetch, false, {{16, 9}, {64, 9}, {256, 9}, {1024, 5}}},
      {kind, Algorithm::kSlices, true, {{16, 2}, {64, 1}, {256, 3}, {1024, 9}}},
      {kind, Algorithm::kZeroCopy, true, {{16, 0.5}, {64, 2}, {256, 1}, {1024, 1}}}};
  EXPECT_THAT(FastestOf(times, 4, 1),
              ElementsAre(TunedChoice{kind, 4, 1, 32, Algorithm::kOneShot},
                          TunedChoice{kind, 4, 1, 128, Algorithm::kSlices},
                          TunedChoice{kind, 4, 1, 512, Algorithm::kZeroCopy},
                          TunedChoice{kind, 4, 1, collective::kAnyBytes, Algorithm::kFetch}));
}

TEST(BenchTuneTest, TheWrittenFileParses) {
  for (const CallKind kind : {CallKind::kAllReduce, CallKind::kAllToAll}) {
    const collective::TuningTable table(
        FastestOf({{kind, Algorithm::kOneShot, false, {{64, 1}, {4096, 1}}},
                   {kind, Algorithm::kSlices, false, {{64, 2}, {4096, 2}}}},
                  8, 1));
    const auto read = collective::TuningTable::Parse(table.ToText("a test"), "tuned");
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, table);
    EXPECT_EQ(read->For(kind, 8, 1, 1024, true), Algorithm::kOneShot);
  }
}

/// Returns the cost model's times of a call in the form of measured times.
AlgorithmTimes Modelled(CallKind kind, Algorithm algorithm, std::uint32_t ranks,
                        std::uint32_t hosts, const collective::CostModel& model) {
  const collective::Groups groups = collective::EvenGroups(ranks, hosts);
  const collective::Layout layout{.order = collective::InOrder(groups), .groups = groups};
  AlgorithmTimes times{kind, algorithm, false, {}};
  for (const std::size_t bytes : {std::size_t{64}, std::size_t{4096}, std::size_t{1} << 24}) {
    const collective::Call call{.kind = kind, .count = bytes, .type = DataType::kUint8};
    const auto ns = collective::TimeNs(algorithm, call, layout, model);
    times.us_by_bytes.emplace_back(bytes, static_cast<double>(ns) / 1'000);
  }
  return times;
}

TEST(BenchTuneTest, RecoversLinkCostsFromTimes) {
  const collective::LinkCost link{.latency_ns = 3'000, .overhead_ns = 700, .mb_per_s = 2'500};
  for (const std::uint32_t hosts : {1u, 4u}) {
    collective::CostModel model;
    (hosts == 1 ? model.local : model.remote) = link;
    const collective::MeasuredLinks links =
        LinksOf({Modelled(CallKind::kAllReduce, Algorithm::kRing, 4, hosts, model),
                 Modelled(CallKind::kAllToAll, Algorithm::kDirect, 4, hosts, model)},
                4, hosts);
    EXPECT_EQ(links.local.has_value(), hosts == 1);
    EXPECT_EQ(links.remote.has_value(), hosts > 1);
    const collective::LinkCost found = hosts == 1 ? *links.local : *links.remote;
    EXPECT_NEAR(static_cast<double>(found.latency_ns), 3'000, 150);
    EXPECT_NEAR(static_cast<double>(found.overhead_ns), 700, 100);
    EXPECT_NEAR(found.mb_per_s, 2'500, 50);
  }
}

TEST(BenchTuneTest, AQuarterOfAMessageIsOverheadWithOnePeer) {
  collective::CostModel model;
  model.local = {.latency_ns = 3'000, .overhead_ns = 1'000, .mb_per_s = 2'500};
  const collective::MeasuredLinks links =
      LinksOf({Modelled(CallKind::kAllReduce, Algorithm::kRing, 2, 1, model),
               Modelled(CallKind::kAllToAll, Algorithm::kDirect, 2, 1, model)},
              2, 1);
  ASSERT_TRUE(links.local.has_value());
  EXPECT_NEAR(static_cast<double>(links.local->latency_ns),
              3.0 * static_cast<double>(links.local->overhead_ns), 3);
}

TEST(BenchTuneTest, TheOverheadIsBetweenATwentiethAndAHalf) {
  collective::CostModel model;
  model.local = {.latency_ns = 3'000, .overhead_ns = 700, .mb_per_s = 2'500};
  const AlgorithmTimes ring = Modelled(CallKind::kAllReduce, Algorithm::kRing, 4, 1, model);
  const auto share = [&](double us) {
    const auto link =
        *LinksOf({ring, {CallKind::kAllToAll, Algorithm::kDirect, false, {{64, us}}}}, 4, 1).local;
    return static_cast<double>(link.overhead_ns) /
           static_cast<double>(link.overhead_ns + link.latency_ns);
  };
  EXPECT_NEAR(share(1e6), 0.5, 1e-3) << "an exchange that takes long";
  EXPECT_NEAR(share(1e-6), 0.05, 1e-3) << "and one that takes nothing";
}

TEST(BenchTuneTest, DerivesNoCostsFromTimesThatDoNotGrow) {
  const std::vector<AlgorithmTimes> flat = {
      {CallKind::kAllReduce, Algorithm::kRing, false, {{16, 9}, {64, 9}}}};
  EXPECT_EQ(LinksOf(flat, 4, 1), collective::MeasuredLinks());
  EXPECT_EQ(LinksOf({}, 4, 1), collective::MeasuredLinks());
}

TEST(BenchTuneTest, WithoutATaskNamesTheAvailableTasks) {
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
