// Random jobs on hosts with network cards and processors, each with one fault specific to hosts. A
// temporary fault must not be noticed. Every rank must learn of a permanent one in time.
// RINGLET_SIM_SEEDS=first:count runs other seeds.
#include <gtest/gtest.h>

#include "world.hpp"

namespace ringlet::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

enum class Trouble : std::uint8_t {
  kNone,
  // temporary
  kStopped,
  kCutThatHeals,
  kSlow,
  kLate,
  // permanent
  kStoppedForLong,
  kCut,
  kOneWayCut,
  kHostKilled,
  kHostSilenced,
  kCorruption,
};
constexpr std::uint64_t kTroubles = 11;
bool Stays(Trouble trouble) {
  return trouble >= Trouble::kStoppedForLong;
}

WorldConfig RandomConfig(std::uint64_t seed, Prng& prng, Trouble trouble) {
  WorldConfig config;
  config.seed = seed;
  config.size = static_cast<std::uint32_t>(2 + prng.Below(24));
  config.shape = prng.Chance(0.7) ? bootstrap::Shape::kTree : bootstrap::Shape::kRing;
  config.arity = static_cast<std::uint16_t>(1 + prng.Below(8));
  config.ranks_per_host = static_cast<std::uint32_t>(1 + prng.Below(config.size - 1));
  config.start_spread = milliseconds(prng.Below(20));
  Conditions& conditions = config.conditions;
  conditions.latency_min = microseconds(1 + prng.Below(100));
  conditions.latency_max = conditions.latency_min + microseconds(prng.Below(100));
  conditions.local_latency = microseconds(1 + prng.Below(10));
  conditions.mb_per_s = prng.Chance(0.3) ? 0 : 1 + prng.Below(2000);
  conditions.cpu_per_event = microseconds(prng.Below(50));
  conditions.cpu_per_kib = microseconds(prng.Below(10));
  conditions.chunk_max = prng.Chance(0.5) ? Conditions::kUncut : 1 + prng.Below(2000);
  if (trouble == Trouble::kCorruption) conditions.corrupt = 0.02;
  return config;
}

void BringAbout(Trouble trouble, World& world, const WorldConfig& config) {
  Network& network = world.network();
  const auto victim = static_cast<std::uint32_t>(world.prng().Below(config.size));
  const HostId last = world.HostOf(config.size - 1);
  const auto host = static_cast<HostId>(world.prng().Below(last + 1));
  const HostId other = (host + 1) % (last + 1);
  const Instant when = world.RandomTime(milliseconds(60));
  switch (trouble) {
    case Trouble::kStopped: return network.Stop(world.node(victim), when, when + seconds(1));
    case Trouble::kStoppedForLong: return network.Stop(world.node(victim), Instant(0), seconds(30));
    case Trouble::kCutThatHeals:
      network.Cut(host, other, when, when + seconds(1));
      return network.Cut(other, host, when, when + milliseconds(500));
    case Trouble::kCut: network.Cut(other, host, when); [[fallthrough]];
    case Trouble::kOneWayCut: return network.Cut(host, other, when);
    case Trouble::kSlow: return network.Slow(world.node(victim), microseconds(200));
    case Trouble::kHostKilled: return network.KillHost(host, when);
    case Trouble::kHostSilenced: return network.IsolateHost(host, when);
    case Trouble::kLate: return;  // AddRanks has applied it
    case Trouble::kCorruption:
    case Trouble::kNone: return;
  }
}

void AddRanks(World& world, const WorldConfig& config, Trouble trouble) {
  const auto late = static_cast<std::uint32_t>(world.prng().Below(config.size));
  for (std::uint32_t rank = 0; rank < config.size; ++rank)
    world.AddRank(rank, trouble == Trouble::kLate && rank == late
                            ? Instant(seconds(3))
                            : world.RandomTime(config.start_spread));
}

struct HostsOutcome {
  std::uint64_t trace = 0;
  std::uint32_t succeeded = 0, failed = 0;
  std::string problem;
};

void Judge(World& world, Trouble trouble, HostsOutcome& out) {
  for (std::size_t i = 0; i < world.ranks(); ++i) {
    if (!world.network().alive(world.node(i))) continue;
    const ScriptedRank& rank = world.rank(i);
    const std::string who = "rank at place " + std::to_string(i);
    if (!rank.wrong().empty() && trouble != Trouble::kCorruption)
      out.problem = who + " saw " + rank.wrong();
    if (!rank.Finished()) {
      out.problem = who + " still waits: " + rank.member().Phase();
    } else if (rank.succeeded()) {
      ++out.succeeded;
    } else {
      ++out.failed;
      if (!Stays(trouble))
        out.problem =
            "the trouble passed, yet " + who + " failed: " + rank.member().failure()->text;
    }
  }
}

HostsOutcome RunHostsSeed(std::uint64_t seed) {
  Prng prng(seed ^ 0x51ed270b0a1fc3a5u);
  const auto trouble = static_cast<Trouble>(prng.Below(kTroubles));
  const WorldConfig config = RandomConfig(seed, prng, trouble);
  World world(config);
  AddRanks(world, config, trouble);
  BringAbout(trouble, world, config);
  HostsOutcome out;
  if (!world.network().Run(config.timeout * 3 + seconds(35)))
    out.problem = "livelock: the event budget is spent";
  out.trace = world.network().trace();
  Judge(world, trouble, out);
  if (!out.problem.empty())
    out.problem += " (trouble " + std::to_string(static_cast<int>(trouble)) + ")";
  return out;
}

TEST(HostSeeds, RandomJobsWithHostFaultsEndAsExpected) {
  const auto [first, count] = SeedsToRun(2000);
  std::uint64_t succeeded = 0, failed = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const HostsOutcome out = RunHostsSeed(seed);
    succeeded += out.succeeded;
    failed += out.failed;
    EXPECT_EQ(out.problem, "") << "seed " << seed << "; again with RINGLET_SIM_SEEDS=" << seed
                               << ":1";
    if (seed % 16 != 0) continue;
    ASSERT_EQ(RunHostsSeed(seed).trace, out.trace) << "seed " << seed << " is not deterministic";
  }
  std::printf("%llu seeds: %llu ranks succeeded, %llu failed as they should\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(succeeded),
              static_cast<unsigned long long>(failed));
}

}  // namespace
}  // namespace ringlet::sim
