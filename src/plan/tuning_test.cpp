#include "plan/tuning.hpp"

#include <gmock/gmock.h>

namespace ringlet::plan {
namespace {

using testing::HasSubstr;
using topology::PathType;

constexpr auto kAllReduce = Function::kAllReduce;
constexpr std::uint64_t kMiB = 1 << 20;

Common Of(Pattern pattern, std::uint32_t channels, std::uint32_t intra, std::uint32_t inter,
          PathType type_intra, PathType type_inter) {
  return {.pattern = pattern,
          .channels = channels,
          .intra = {intra},
          .inter = {inter},
          .type_intra = type_intra,
          .type_inter = type_inter};
}

// Four GPUs on PCIe with one NIC, two such hosts.
TuningInput Pcie() {
  TuningInput input;
  input.ranks = 8;
  input.nodes = 2;
  input.capability_min = input.capability_max = 70;
  input.graphs[0] = Of(Pattern::kRing, 1, 10'000, 10'000, PathType::kPhb, PathType::kPhb);
  input.graphs[1] = Of(Pattern::kBalancedTree, 1, 7'000, 7'000, PathType::kPhb, PathType::kPhb);
  input.choice = ParseTuningChoice("", "").value();
  return input;
}

// Eight GPUs on an NVSwitch.
TuningInput Switched(std::uint32_t nodes) {
  TuningInput input;
  input.ranks = 8 * nodes;
  input.nodes = nodes;
  input.capability_min = input.capability_max = 90;
  input.nvswitch = true;
  input.nvls_heads = input.node_ranks_max = 8;
  const auto graph = [&](Pattern pattern, std::uint32_t speed) {
    return Of(pattern, nodes == 1 ? 12 : 8, nodes == 1 ? 30'000 : speed,
              nodes == 1 ? 30'000 : speed, PathType::kNvl, PathType::kPix);
  };
  input.graphs[0] = graph(Pattern::kRing, 48'000);
  input.graphs[1] = graph(nodes == 1 ? Pattern::kBalancedTree : Pattern::kTree, 48'000);
  input.graphs[3] =
      Of(Pattern::kNvls, 8, 40'000, nodes == 1 ? 60'000 : 48'000, PathType::kNvl, PathType::kPix);
  input.choice = ParseTuningChoice("", "").value();
  return input;
}

// Within a tenth of a microsecond and of a GB/s, which is how NCCL prints them.
void ExpectCell(const Tuning& tuning, Algorithm algorithm, Protocol protocol, double us,
                double gb_per_s, Function function = kAllReduce) {
  const TuningCell& cell = tuning.At(function, algorithm, protocol);
  EXPECT_NEAR(static_cast<double>(cell.latency_ns) / 1000, us, 0.051) << NameOf(algorithm);
  EXPECT_NEAR(cell.bandwidth.mb_per_s / 1000.0, gb_per_s, 0.051) << NameOf(algorithm);
}

// Source of the figures of these three  runs of NCCL 2.30 on these machines
TEST(TuningTest, FourGpusOnPcieTwice) {
  const Tuning tuning(Pcie(), 2);
  ExpectCell(tuning, Algorithm::kTree, Protocol::kLl, 22.8, 0.8);
  ExpectCell(tuning, Algorithm::kTree, Protocol::kSimple, 60.4, 3.2);
  ExpectCell(tuning, Algorithm::kRing, Protocol::kLl, 24.0, 2.9);
  ExpectCell(tuning, Algorithm::kRing, Protocol::kSimple, 104.8, 5.7);
  ExpectCell(tuning, Algorithm::kRing, Protocol::kLl, 15.3, 5.7, Function::kAllGather);
  ExpectCell(tuning, Algorithm::kRing, Protocol::kSimple, 56.6, 11.4, Function::kAllGather);
  EXPECT_EQ(tuning.At(kAllReduce, Algorithm::kRing, Protocol::kLl128).bandwidth.mb_per_s, 0u);
  EXPECT_EQ(tuning.Pick(kAllReduce, 1024)->algorithm, Algorithm::kTree);
  for (const std::uint64_t bytes : {4096ull, 256ull << 10}) {
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->algorithm, Algorithm::kRing) << bytes;
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->protocol, Protocol::kLl) << bytes;
  }
  EXPECT_EQ(tuning.Pick(kAllReduce, kMiB)->protocol, Protocol::kSimple);
}

TEST(TuningTest, EightGpusOnAnNvSwitch) {
  const Tuning tuning(Switched(1), 24);
  ExpectCell(tuning, Algorithm::kRing, Protocol::kSimple, 56.0, 205.7);
  ExpectCell(tuning, Algorithm::kRing, Protocol::kLl, 15.0, 80.6);
  ExpectCell(tuning, Algorithm::kRing, Protocol::kLl128, 40.6, 189.3);
  ExpectCell(tuning, Algorithm::kTree, Protocol::kSimple, 64.4, 165.6);
  ExpectCell(tuning, Algorithm::kNvls, Protocol::kSimple, 25.0, 272.0);
  EXPECT_EQ(tuning.Pick(kAllReduce, kMiB)->protocol, Protocol::kLl);
  EXPECT_EQ(tuning.Pick(kAllReduce, 4 * kMiB)->algorithm, Algorithm::kNvls);
}

TEST(TuningTest, EightGpusOnAnNvSwitchTwice) {
  const Tuning tuning(Switched(2), 16);
  ExpectCell(tuning, Algorithm::kNvlsTree, Protocol::kSimple, 66.8, 246.2);
  ExpectCell(tuning, Algorithm::kRing, Protocol::kSimple, 131.6, 204.8);
  ExpectCell(tuning, Algorithm::kTree, Protocol::kSimple, 92.4, 140.8);
  ExpectCell(tuning, Algorithm::kTree, Protocol::kLl, 25.2, 16.6);
  EXPECT_EQ(tuning.Pick(kAllReduce, 64 << 10)->protocol, Protocol::kLl);
  for (const std::uint64_t bytes : {256ull << 10, 1ull << 20}) {
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->algorithm, Algorithm::kTree);
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->protocol, Protocol::kLl128);
  }
  EXPECT_EQ(tuning.Pick(kAllReduce, 4 * kMiB)->algorithm, Algorithm::kNvlsTree);
  EXPECT_EQ(tuning.Pick(Function::kAllGather, 64 * kMiB)->protocol, Protocol::kSimple);
  EXPECT_EQ(tuning.Pick(Function::kAllGather, 4 * kMiB)->protocol, Protocol::kLl128);
}

TEST(TuningTest, TheUsersChoiceIsHeeded) {
  TuningInput input = Switched(2);
  input.choice = ParseTuningChoice("ring", "LL").value();
  const Tuning tuning(input, 16);
  for (const std::uint64_t bytes : {std::uint64_t{64}, kMiB, 1024 * kMiB}) {
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->algorithm, Algorithm::kRing);
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->protocol, Protocol::kLl);
  }
  input.choice = ParseTuningChoice("nvls", "LL").value();
  const auto pick = Tuning(input, 16).Pick(kAllReduce, kMiB);
  ASSERT_FALSE(pick.ok());
  EXPECT_THAT(pick.error().message, HasSubstr("NCCL_ALGO and NCCL_PROTO leave no way"));
}

TEST(TuningTest, MoreBytesNeverTakeLessTime) {
  const Tuning tuning(Switched(4), 16);
  for (std::size_t f = 0; f < kFunctions; ++f) {
    std::uint64_t before = 0;
    for (std::uint64_t bytes = 1; bytes < std::uint64_t{1} << 45; bytes *= 64) {
      const auto pick = tuning.Pick(static_cast<Function>(f), bytes);
      ASSERT_TRUE(pick.ok());
      EXPECT_GE(pick->time_ns, before);
      before = pick->time_ns;
    }
  }
}

TEST(TuningTest, SmallMessagesGetFewChannelsAndThreads) {
  const Tuning tuning(Switched(1), 24);
  const TuningPick simple{Algorithm::kRing, Protocol::kSimple, 0};
  EXPECT_EQ(tuning.LaunchOf(simple, 1 << 30), (TuningLaunch{24, 544}));
  EXPECT_EQ(tuning.LaunchOf(simple, 64), (TuningLaunch{1, 96}));
  EXPECT_EQ(tuning.LaunchOf({Algorithm::kNvls, Protocol::kSimple, 0}, 64), (TuningLaunch{24, 640}));
}

}  // namespace
}  // namespace ringlet::plan
