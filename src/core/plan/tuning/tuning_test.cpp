#include "plan/tuning/tuning.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/value/digest.hpp"

namespace ringlet::plan {
namespace {

using testing::HasSubstr;
using topology::PathType;

constexpr auto kAllReduce = Function::kAllReduce;
constexpr std::uint64_t kMiB = 1 << 20;

Common CommonOf(Pattern pattern, std::uint32_t channels, std::uint32_t intra, std::uint32_t inter,
                PathType type_intra, PathType type_inter) {
  return {.pattern = pattern,
          .channels = channels,
          .intra = {intra},
          .inter = {inter},
          .type_intra = type_intra,
          .type_inter = type_inter};
}

// Two hosts of four GPUs on PCIe, with one NIC each.
TuningInput PcieInput() {
  TuningInput input;
  input.ranks = 8;
  input.nodes = 2;
  input.capability_min = input.capability_max = 70;
  input.graphs[0] = CommonOf(Pattern::kRing, 1, 10'000, 10'000, PathType::kPhb, PathType::kPhb);
  input.graphs[1] =
      CommonOf(Pattern::kBalancedTree, 1, 7'000, 7'000, PathType::kPhb, PathType::kPhb);
  input.choice = ParseTuningChoice("", "").value();
  return input;
}

// Eight GPUs on an NVSwitch.
TuningInput SwitchedInput(std::uint32_t nodes) {
  TuningInput input;
  input.ranks = 8 * nodes;
  input.nodes = nodes;
  input.capability_min = input.capability_max = 90;
  input.nvswitch = true;
  input.nvls_heads = input.node_ranks_max = 8;
  const auto graph = [&](Pattern pattern, std::uint32_t speed) {
    return CommonOf(pattern, nodes == 1 ? 12 : 8, nodes == 1 ? 30'000 : speed,
                    nodes == 1 ? 30'000 : speed, PathType::kNvl, PathType::kPix);
  };
  input.graphs[0] = graph(Pattern::kRing, 48'000);
  input.graphs[1] = graph(nodes == 1 ? Pattern::kBalancedTree : Pattern::kTree, 48'000);
  input.graphs[3] = CommonOf(Pattern::kNvls, 8, 40'000, nodes == 1 ? 60'000 : 48'000,
                             PathType::kNvl, PathType::kPix);
  input.choice = ParseTuningChoice("", "").value();
  return input;
}

// Compares to a tenth of a microsecond and of a GB/s, because NCCL prints so many digits.
void ExpectCell(const Tuning& tuning, NcclAlgorithm algorithm, Protocol protocol, double us,
                double gb_per_s, Function function = kAllReduce) {
  const TuningCell& cell = tuning.At(function, algorithm, protocol);
  EXPECT_NEAR(static_cast<double>(cell.latency_ns) / 1000, us, 0.051) << NameOf(algorithm);
  EXPECT_NEAR(cell.bandwidth.mb_per_s / 1000.0, gb_per_s, 0.051) << NameOf(algorithm);
}

// Source of the numbers of these three tests: runs of NCCL 2.30 on these machines.
TEST(TuningTest, TwoHostsOfFourGpusOnPcieMatchNccl) {
  const Tuning tuning(PcieInput(), {2, 2});
  ExpectCell(tuning, NcclAlgorithm::kTree, Protocol::kLl, 22.8, 0.8);
  ExpectCell(tuning, NcclAlgorithm::kTree, Protocol::kSimple, 60.4, 3.2);
  ExpectCell(tuning, NcclAlgorithm::kRing, Protocol::kLl, 24.0, 2.9);
  ExpectCell(tuning, NcclAlgorithm::kRing, Protocol::kSimple, 104.8, 5.7);
  ExpectCell(tuning, NcclAlgorithm::kRing, Protocol::kLl, 15.3, 5.7, Function::kAllGather);
  ExpectCell(tuning, NcclAlgorithm::kRing, Protocol::kSimple, 56.6, 11.4, Function::kAllGather);
  EXPECT_EQ(tuning.At(kAllReduce, NcclAlgorithm::kRing, Protocol::kLl128).bandwidth.mb_per_s, 0u);
  EXPECT_EQ(tuning.Pick(kAllReduce, 1024)->algorithm, NcclAlgorithm::kTree);
  for (const std::uint64_t bytes : {4096ull, 256ull << 10}) {
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->algorithm, NcclAlgorithm::kRing) << bytes;
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->protocol, Protocol::kLl) << bytes;
  }
  EXPECT_EQ(tuning.Pick(kAllReduce, kMiB)->protocol, Protocol::kSimple);
}

TEST(TuningTest, AHostOfEightGpusOnAnNvSwitchMatchesNccl) {
  const Tuning tuning(SwitchedInput(1), {24, 24});
  ExpectCell(tuning, NcclAlgorithm::kRing, Protocol::kSimple, 56.0, 205.7);
  ExpectCell(tuning, NcclAlgorithm::kRing, Protocol::kLl, 15.0, 80.6);
  ExpectCell(tuning, NcclAlgorithm::kRing, Protocol::kLl128, 40.6, 189.3);
  ExpectCell(tuning, NcclAlgorithm::kTree, Protocol::kSimple, 64.4, 165.6);
  ExpectCell(tuning, NcclAlgorithm::kNvls, Protocol::kSimple, 25.0, 272.0);
  EXPECT_EQ(tuning.Pick(kAllReduce, kMiB)->protocol, Protocol::kLl);
  EXPECT_EQ(tuning.Pick(kAllReduce, 4 * kMiB)->algorithm, NcclAlgorithm::kNvls);
}

TEST(TuningTest, TwoHostsOfEightGpusOnNvSwitchesMatchNccl) {
  const Tuning tuning(SwitchedInput(2), {16, 16});
  ExpectCell(tuning, NcclAlgorithm::kNvlsTree, Protocol::kSimple, 66.8, 246.2);
  ExpectCell(tuning, NcclAlgorithm::kRing, Protocol::kSimple, 131.6, 204.8);
  ExpectCell(tuning, NcclAlgorithm::kTree, Protocol::kSimple, 92.4, 140.8);
  ExpectCell(tuning, NcclAlgorithm::kTree, Protocol::kLl, 25.2, 16.6);
  EXPECT_EQ(tuning.Pick(kAllReduce, 64 << 10)->protocol, Protocol::kLl);
  for (const std::uint64_t bytes : {256ull << 10, 1ull << 20}) {
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->algorithm, NcclAlgorithm::kTree);
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->protocol, Protocol::kLl128);
  }
  EXPECT_EQ(tuning.Pick(kAllReduce, 4 * kMiB)->algorithm, NcclAlgorithm::kNvlsTree);
  EXPECT_EQ(tuning.Pick(Function::kAllGather, 64 * kMiB)->protocol, Protocol::kSimple);
  EXPECT_EQ(tuning.Pick(Function::kAllGather, 4 * kMiB)->protocol, Protocol::kLl128);
}

TEST(TuningTest, ObeysTheUsersChoice) {
  TuningInput input = SwitchedInput(2);
  input.choice = ParseTuningChoice("ring", "LL").value();
  const Tuning tuning(input, {16, 16});
  for (const std::uint64_t bytes : {std::uint64_t{64}, kMiB, 1024 * kMiB}) {
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->algorithm, NcclAlgorithm::kRing);
    EXPECT_EQ(tuning.Pick(kAllReduce, bytes)->protocol, Protocol::kLl);
  }
  input.choice = ParseTuningChoice("nvls", "LL").value();
  const auto pick = Tuning(input, {16, 16}).Pick(kAllReduce, kMiB);
  ASSERT_FALSE(pick.ok());
  EXPECT_THAT(pick.error().message, HasSubstr("NCCL_ALGO and NCCL_PROTO leave no way"));
}

TEST(TuningTest, ConstantsCanBeChanged) {
  Tuning tuning(SwitchedInput(1), {.rings = 24, .trees = 24});
  const auto before = tuning.TimesOf(Function::kAllReduce, 1 << 20);
  TuningConstants constants = kNcclConstants;
  constants.base_ns[1][2] += 1'000;
  tuning.SetConstants(constants);
  const auto after = tuning.TimesOf(Function::kAllReduce, 1 << 20);
  EXPECT_EQ(after[1][2], *before[1][2] + 1'000);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_EQ(tuning.TimeNs(Function::kAllReduce, NcclAlgorithm::kRing, Protocol::kSimple, 1 << 20),
            after[1][2]);
}

TEST(TuningTest, MoreBytesNeverTakeLessTime) {
  const Tuning tuning(SwitchedInput(4), {16, 16});
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
  const Tuning tuning(SwitchedInput(1), {24, 24});
  const TuningPick simple{NcclAlgorithm::kRing, Protocol::kSimple, 0};
  EXPECT_EQ(tuning.LaunchOf(simple, 1 << 30), (TuningLaunch{24, 544}));
  EXPECT_EQ(tuning.LaunchOf(simple, 64), (TuningLaunch{1, 96}));
  EXPECT_EQ(tuning.LaunchOf({NcclAlgorithm::kNvls, Protocol::kSimple, 0}, 64),
            (TuningLaunch{24, 640}));
}

/// A machine with CollNet, which reduces in the network.
TuningInput Reducing() {
  TuningInput input = SwitchedInput(4);
  input.collnet = true;
  input.graphs[2] = CommonOf(Pattern::kTree, 8, 40'000, 30'000, PathType::kNvl, PathType::kPix);
  input.graphs[4] =
      CommonOf(Pattern::kCollnetDirect, 8, 24'000, 48'000, PathType::kNvl, PathType::kPix);
  for (Common& graph : input.graphs) graph.latency_inter_ns = 700;
  return input;
}

/// One GPU per node, so that PAT is allowed.
TuningInput Single(std::uint32_t nodes) {
  TuningInput input = PcieInput();
  input.ranks = input.nodes = nodes;
  input.pat = true;
  input.amd = true;
  input.net_overhead_ns = 500;
  return input;
}

TuningInput Newer(std::uint32_t capability, std::uint32_t nodes) {
  TuningInput input = SwitchedInput(nodes);
  input.capability_min = input.capability_max = capability;
  input.amd_or_mixed = true;
  return input;
}

TuningInput Power() {
  TuningInput input = PcieInput();
  input.power = true;
  input.graphs[0].same_channels = true;
  return input;
}

constexpr std::uint64_t kSizes[] = {0, 1, 64, 1 << 10, 64 << 10, kMiB, 5 * kMiB, 1024 * kMiB};

/// All results of the model for a machine.
std::string Said(const TuningInput& input) {
  const Tuning tuning(input, {16, 16});
  std::string text;
  for (std::size_t f = 0; f < kFunctions; ++f) {
    for (std::size_t a = 0; a < kAlgorithms; ++a) {
      for (std::size_t p = 0; p < kProtocols; ++p) {
        const auto function = static_cast<Function>(f);
        const auto algorithm = static_cast<NcclAlgorithm>(a);
        const auto protocol = static_cast<Protocol>(p);
        const TuningCell& cell = tuning.At(function, algorithm, protocol);
        if (cell.bandwidth.mb_per_s == 0) continue;
        text += fmt::format("{} {} {}: {} MB/s, {} ns;", NameOf(function), NameOf(algorithm),
                            NameOf(protocol), cell.bandwidth.mb_per_s, cell.latency_ns);
        for (const std::uint64_t bytes : kSizes) {
          const TuningLaunch launch = tuning.LaunchOf({algorithm, protocol, 0}, bytes);
          text += fmt::format(" {} in {} ns by {}x{}", bytes,
                              *tuning.TimeNs(function, algorithm, protocol, bytes), launch.channels,
                              launch.threads);
        }
        text += '\n';
      }
    }
  }
  return text;
}

/// Ranks choose independently, so that all builds must agree on all machines. A deliberate change
/// of the model replaces the digests.
TEST(TuningTest, TheModelIsTheSameOnEveryMachine) {
  const std::pair<TuningInput, std::uint64_t> all[] = {
      {PcieInput(), 0x0fbcc2f4ef8c1688},      {SwitchedInput(1), 0xecabcd48fae36174},
      {SwitchedInput(2), 0x23e801f776e0e996}, {SwitchedInput(4), 0xf813fc118f29fb06},
      {Reducing(), 0x4370942acacfd073},       {Single(4), 0x61d212196adf28c8},
      {Single(9), 0xdc076efc8f055564},        {Newer(100, 1), 0x6dcdfdb9a00b5932},
      {Newer(100, 4), 0xd612bb8540676a29},    {Newer(80, 1), 0xe994069659b1e50d},
      {Power(), 0xcc52110d95662a02},
  };
  for (const auto& [input, digest] : all) {
    const std::string said = Said(input);
    EXPECT_EQ(Digest().Add(said).value(), digest) << said;
  }
}

/// Computed by hand from NCCL 2.30's rules.
TEST(TuningTest, ARingTakesAStepLessThanRanks) {
  const Tuning tuning(Single(4), {2, 2});
  const auto cell = [&](Function function, NcclAlgorithm algorithm, Protocol protocol) {
    return tuning.At(function, algorithm, protocol);
  };
  const TuningCell gather = cell(Function::kAllGather, NcclAlgorithm::kRing, Protocol::kSimple);
  EXPECT_EQ(gather.bandwidth.mb_per_s, 10'000u * 4 / 3);
  EXPECT_EQ(gather.latency_ns, 8'400u + 3 * 14'000);
  const TuningCell reduce = cell(kAllReduce, NcclAlgorithm::kRing, Protocol::kSimple);
  EXPECT_EQ(reduce.bandwidth.mb_per_s, 10'000u * 4 / 6);
  const TuningCell pat = cell(Function::kReduceScatter, NcclAlgorithm::kPat, Protocol::kSimple);
  EXPECT_EQ(pat.bandwidth.mb_per_s, 7'000u * 3 / 4);
  EXPECT_EQ(pat.latency_ns, 8'000u + 2 * 14'000 * 2 / 7 + 4 * 2'800);
  EXPECT_EQ(cell(kAllReduce, NcclAlgorithm::kPat, Protocol::kSimple), TuningCell());
}

}  // namespace
}  // namespace ringlet::plan
