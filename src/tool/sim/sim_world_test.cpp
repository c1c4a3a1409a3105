#include "tool/sim/sim_world.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

namespace ringlet::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

SimOptions WorldOptions(const std::string& faults = "") {
  SimWords words;
  words.faults = faults;
  words.ranks = "16";
  words.timeout = "10s";
  words.ranks_per_host = 4;
  return ParseSimOptions(words).value();
}

std::uint32_t Standing(const SimWorld& world) {
  std::uint32_t standing = 0;
  for (std::uint32_t rank = 0; rank < world.size(); ++rank)
    standing += world.member(rank).standing();
  return standing;
}

TEST(SimWorldTest, AllRanksJoinFromTheirHosts) {
  SimWorld world = SimWorld::Build(WorldOptions(), 15).value();
  EXPECT_EQ(world.size(), 15u);
  EXPECT_EQ(world.hosts(), 4u);
  ASSERT_TRUE(world.network().Run(seconds(1)));
  EXPECT_EQ(Standing(world), 15u);
  EXPECT_EQ(world.checked_in(), 15u);
  EXPECT_TRUE(world.network().notes().empty());
  EXPECT_EQ(world.network().host(world.NodeOfRank(14)), 3u);
  EXPECT_EQ(world.RankOf(world.NodeOfRank(14)), 14u);
  EXPECT_EQ(world.member(0).roster().DescribeRank(Rank{14}), world.Describe(14));
}

TEST(SimWorldTest, EqualSeedsGiveEqualJobs) {
  const auto run = [](std::uint64_t seed) {
    SimOptions options = WorldOptions();
    options.seed = seed;
    options.spread = milliseconds(1);
    SimWorld world = SimWorld::Build(options, 16).value();
    EXPECT_TRUE(world.network().Run(seconds(1)));
    return world.network().trace();
  };
  EXPECT_EQ(run(3), run(3));
  EXPECT_NE(run(3), run(4));
}

TEST(SimWorldTest, TheControlNetworkHasTheRequestedArity) {
  const auto lines_of_first = [](std::uint16_t arity) {
    SimOptions options = WorldOptions();
    options.arity = arity;
    options.each = true;
    SimWorld world = SimWorld::Build(options, 16).value();
    EXPECT_TRUE(world.network().Run(seconds(1)));
    EXPECT_EQ(Standing(world), 16u);
    const sim::Traffic& traffic = world.network().traffic(world.NodeOfRank(0));
    return traffic.dialled + traffic.accepted;
  };
  EXPECT_GT(lines_of_first(8), lines_of_first(2));
}

TEST(SimWorldTest, CostsOfTheNetworkDelayTheFormation) {
  const auto takes = [](const std::function<void(SimOptions&)>& change) {
    SimOptions options = WorldOptions();
    change(options);
    SimWorld world = SimWorld::Build(options, 16).value();
    EXPECT_TRUE(world.network().Run(seconds(10)));
    EXPECT_EQ(Standing(world), 16u);
    Instant last{0};
    for (std::uint32_t rank = 0; rank < 16; ++rank)
      last = std::max(last, world.member(rank).milestones().standing);
    return last - sim::Network::kOrigin;
  };
  const Instant plain = takes([](SimOptions&) {});
  EXPECT_GT(takes([](SimOptions& o) { o.latency = milliseconds(5); }), plain + milliseconds(20));
  EXPECT_GT(takes([](SimOptions& o) { o.jitter = milliseconds(20); }), plain + milliseconds(5));
  EXPECT_GT(takes([](SimOptions& o) { o.local_latency = milliseconds(5); }),
            plain + milliseconds(10));
  EXPECT_GT(takes([](SimOptions& o) { o.mb_per_s = 1; }), plain + milliseconds(1));
  EXPECT_GT(takes([](SimOptions& o) { o.cpu_per_event = milliseconds(1); }),
            plain + milliseconds(10));
}

TEST(SimWorldTest, RanksStartWithinTheSpread) {
  SimOptions options = WorldOptions("late:3@1s,absent:4");
  options.spread = milliseconds(50);
  const SimWorld world = SimWorld::Build(options, 16).value();
  bool different = false;
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    if (rank == 3 || rank == 4) continue;
    EXPECT_LE(world.start(rank), milliseconds(50));
    different = different || world.start(rank) != world.start(0);
  }
  EXPECT_TRUE(different);
  EXPECT_EQ(world.start(3), seconds(1));
  EXPECT_TRUE(world.absent(4));
}

TEST(SimWorldTest, EveryFaultStrikesItsVictim) {
  const auto why = [](const std::string& faults, std::uint32_t rank) {
    SimWorld world = SimWorld::Build(WorldOptions(faults), 16).value();
    EXPECT_TRUE(world.network().Run(seconds(40)));
    const auto& failure = world.member(rank).failure();
    return failure ? failure->text : "(no failure)";
  };
  EXPECT_THAT(why("kill:3@0.1ms", 0), HasSubstr("rank 3 (host node00000, pid 1003) was lost"));
  EXPECT_THAT(why("kill:root@0.1ms", 15), HasSubstr("runs the root"));
  EXPECT_THAT(why("absent:7", 0), HasSubstr("timed out waiting for rank 7: 15 of 16"));
  EXPECT_THAT(why("late:7@20s", 0), HasSubstr("timed out waiting for rank 7"));
  EXPECT_EQ(why("late:7@2s", 0), "(no failure)");
  EXPECT_THAT(why("silence:7@0", 0), HasSubstr("timed out waiting for rank 7"));
  EXPECT_THAT(why("silence:host2@0", 0), HasSubstr("timed out waiting for ranks 8-11"));
  EXPECT_THAT(why("cut:host2>host0@0", 0), HasSubstr("timed out waiting for ranks 8-11"));
  EXPECT_EQ(why("cut:host2>host0@0-1s", 0), "(no failure)");
  EXPECT_EQ(why("stop:7@0-2s", 0), "(no failure)");
  EXPECT_THAT(why("stop:7@0-20s", 0), HasSubstr("timed out waiting for rank 7"));
  EXPECT_THAT(why("slow:7@5s", 0), HasSubstr("timed out waiting for rank 7"));
  EXPECT_EQ(why("refuse:0.5", 0), "(no failure)");
  EXPECT_THAT(why("refuse:1", 0), HasSubstr("connection refused"));
  EXPECT_NE(why("corrupt:1", 0), "(no failure)");
}

TEST(SimWorldTest, MarksTheRanksOfAKilledHost) {
  SimWorld world = SimWorld::Build(WorldOptions("kill:host1@0.2ms,kill:9@1s"), 16).value();
  for (std::uint32_t rank = 0; rank < 16; ++rank)
    EXPECT_EQ(world.doomed(rank), (rank >= 4 && rank < 8) || rank == 9) << rank;
  ASSERT_TRUE(world.network().Run(seconds(40)));
  for (std::uint32_t rank = 4; rank < 8; ++rank)
    EXPECT_FALSE(world.network().alive(world.NodeOfRank(rank)));
}

TEST(SimWorldTest, RefusesMoreRootsThanRanks) {
  SimOptions options = WorldOptions();
  options.roots = 17;
  EXPECT_THAT(SimWorld::Build(options, 16).error().message, HasSubstr("--roots 17"));
}

}  // namespace
}  // namespace ringlet::cli
