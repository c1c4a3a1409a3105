#include "tool/sim/sim_reform_run.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

SimOptions OptionsFor(std::uint32_t size, std::uint32_t ranks_per_host = 8) {
  SimWords words;
  words.ranks = std::to_string(size);
  words.ranks_per_host = ranks_per_host;
  return ParseSimOptions(words).value();
}

SimReformRow Reformed(const SimDeaths& deaths, std::uint32_t size, SimOptions options) {
  SimWorld world = SimWorld::Build(options, size).value();
  auto row = RunReform(world, options, deaths, [] {});
  EXPECT_TRUE(row.ok()) << row.error().message;
  return row.ok() ? *row : SimReformRow();
}

TEST(SimReformRunTest, SurvivorsFormOneGroup) {
  for (const auto which : {SimDeaths::Which::kAny, SimDeaths::Which::kFirst})
    for (const std::uint32_t count : {1u, 3u, 40u}) {
      const SimReformRow row = Reformed({.count = count, .which = which}, 64, OptionsFor(64));
      EXPECT_EQ(row.died, count);
      EXPECT_EQ(row.reformed, 64 - count);
      EXPECT_TRUE(ReformVerdict(row).ok()) << ReformVerdict(row).error().message;
      EXPECT_GT(row.told, Instant(0));
      EXPECT_GT(row.agreed, row.told);
      EXPECT_GE(row.attempts, 1u);
    }
}

TEST(SimReformRunTest, RanksMayDieDuringTheRecovery) {
  const SimReformRow once = Reformed({}, 64, OptionsFor(64));
  const SimReformRow row = Reformed({.later = 2}, 64, OptionsFor(64));
  EXPECT_EQ(row.died, 3u);
  EXPECT_EQ(row.reformed, 61u);
  EXPECT_GT(row.agreed, once.agreed);
}

TEST(SimReformRunTest, ADeathChangesOnlyFewConnections) {
  const SimReformRow row = Reformed({}, 4096, OptionsFor(4096));
  EXPECT_EQ(row.reformed, 4095u);
  // Those that were next to the dead rank connect to one that replaces it, which has 15 neighbours.
  EXPECT_LE(row.connections, 2 * 16u);
  EXPECT_LE(row.attempts, 2u);
}

// Each hop takes 20 us between hosts. The failure and the barrier pass the tree of depth 4.
TEST(SimReformRunTest, OneDeathTakesAFewTimesTheDepthOfTheTree) {
  const SimReformRow row = Reformed({}, 4096, OptionsFor(4096));
  EXPECT_LT(row.agreed, milliseconds(2));
}

// After three refusals, all ranks of the host count as lost.
TEST(SimReformRunTest, TheDeathOfAHostTakesLittleLongerThanThatOfARank) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SimOptions options = OptionsFor(512);
    options.seed = seed;
    const SimReformRow row = Reformed({.which = SimDeaths::Which::kHosts}, 512, options);
    EXPECT_EQ(row.reformed, 504u) << "seed " << seed;
    EXPECT_LT(row.agreed, milliseconds(15)) << "seed " << seed;
    EXPECT_LE(row.attempts, 3u) << "seed " << seed;
  }
}

TEST(SimReformRunTest, ManyRandomDeathsTakeLessThan50Milliseconds) {
  const SimReformRow row = Reformed({.share = 0.1}, 512, OptionsFor(512));
  EXPECT_EQ(row.died, 51u);
  EXPECT_TRUE(ReformVerdict(row).ok()) << ReformVerdict(row).error().message;
  EXPECT_LT(row.agreed, milliseconds(50));
}

TEST(SimReformRunTest, EqualSeedsGiveEqualRuns) {
  const SimDeaths deaths{.count = 5, .later = 3};
  const SimReformRow one = Reformed(deaths, 64, OptionsFor(64)),
                     two = Reformed(deaths, 64, OptionsFor(64));
  EXPECT_EQ(one.agreed, two.agreed);
  EXPECT_EQ(one.events, two.events);
}

std::vector<std::uint32_t> Victims(const SimDeaths& deaths, const SimOptions& options,
                                   std::uint32_t size) {
  const SimWorld world = SimWorld::Build(options, size).value();
  Prng prng(1);
  const auto victims = FirstToDie(deaths, world, prng);
  return victims.ok() ? *victims : std::vector<std::uint32_t>();
}

TEST(SimReformRunTest, ChoosesTheRanksThatDie) {
  using Which = SimDeaths::Which;
  EXPECT_THAT(Victims({.count = 3, .which = Which::kFirst}, OptionsFor(16), 16),
              ElementsAre(0, 1, 2));
  EXPECT_THAT(Victims({.count = 15}, OptionsFor(16), 16), SizeIs(15));
  EXPECT_THAT(Victims({.count = 1, .which = Which::kHosts, .later = 1}, OptionsFor(16), 16),
              SizeIs(8));
  EXPECT_THAT(Victims({.share = 0.25}, OptionsFor(16), 16), SizeIs(4));
  const auto hosts = Victims({.count = 2, .which = Which::kHosts}, OptionsFor(12, 4), 12);
  ASSERT_THAT(hosts, SizeIs(8));
  for (const std::uint32_t rank : hosts)
    EXPECT_EQ(std::ranges::count_if(hosts, [&](auto other) { return other / 4 == rank / 4; }), 4);
}

TEST(SimReformRunTest, AtLeastOneRankMustDieAndOneRemain) {
  const SimWorld world = SimWorld::Build(OptionsFor(16), 16).value();
  Prng prng(1);
  for (const SimDeaths& deaths :
       {SimDeaths{.count = 16}, SimDeaths{.count = 15, .later = 1}, SimDeaths{.share = 0.001},
        SimDeaths{.count = 0xffffffff, .later = 1},
        SimDeaths{.count = 2, .which = SimDeaths::Which::kHosts}}) {
    const auto victims = FirstToDie(deaths, world, prng);
    ASSERT_FALSE(victims.ok());
    EXPECT_THAT(victims.error().message, HasSubstr("at least one must die, and one remain"));
  }
}

TEST(SimReformRunTest, TheVerdictNamesSurvivorsOutsideTheGroup) {
  SimReformRow row{.ranks = 8, .died = 1, .reformed = 7};
  EXPECT_TRUE(ReformVerdict(row).ok());
  row.wrong = "no memory";
  EXPECT_THAT(ReformVerdict(row).error().message, HasSubstr("no memory"));
  row.wrong.clear();
  row.reformed = 5;
  row.left_out = row.waiting = 1;
  EXPECT_EQ(ReformVerdict(row).error().message,
            "5 of 7 survivors are in one group; left out: 1; still waiting: 1");
}

}  // namespace
}  // namespace ringlet::cli
