// Directed stories: one fault each, with a known message of each rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "world.hpp"

namespace ringlet::sim {
namespace {

using bootstrap::Shape;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

class Story : public testing::TestWithParam<Shape> {
 protected:
  WorldConfig Config(std::uint32_t size) {
    WorldConfig config;
    config.seed = 7;
    config.size = size;
    config.shape = GetParam();
    return config;
  }
  static void Run(World& world, Instant until = seconds(30)) {
    ASSERT_TRUE(world.network().Run(until));
  }
  static std::string Why(World& world, std::size_t index) {
    const auto& failure = world.rank(index).failure();
    return failure ? failure->text : "(no failure)";
  }
};

INSTANTIATE_TEST_SUITE_P(Shapes, Story, testing::Values(Shape::kTree, Shape::kRing),
                         [](const auto& shape) {
                           return shape.param == Shape::kTree ? "tree" : "ring";
                         });

TEST_P(Story, WithoutFaultsAllRanksForm) {
  for (const std::uint32_t size : {1u, 2u, 3u, 64u}) {
    World world(Config(size));
    world.AddAllRanks();
    Run(world);
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_TRUE(world.rank(i).succeeded()) << Why(world, i);
      EXPECT_EQ(world.rank(i).wrong(), "");
    }
    EXPECT_TRUE(world.root_machine().Finished());
    EXPECT_TRUE(world.network().notes().empty());
  }
}

TEST_P(Story, AllRanksNameARankThatNeverStartsInTime) {
  World world(Config(6));
  for (const std::uint32_t rank : {0u, 1u, 2u, 4u, 5u}) world.AddRank(rank, milliseconds(rank));
  Run(world);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_THAT(Why(world, i), HasSubstr("timed out waiting for rank 3: 5 of 6 ranks checked in"));
    EXPECT_EQ(world.rank(i).failure()->code, Code::kTimeout);
    EXPECT_LE(world.rank(i).ended(), Network::kOrigin + seconds(10)) << "before its own deadline";
  }
}

TEST_P(Story, AThousandRanksNameTheMissingOne) {
  World world(Config(1024));
  for (std::uint32_t rank = 0; rank < 1023; ++rank) {
    bootstrap::MemberConfig member = world.ConfigOf(rank);
    member.timeout +=
        world.RandomTime(seconds(2));  // the first to give up is not the first to arrive
    world.AddRank(member, world.RandomTime(seconds(2)));
  }
  Run(world);
  for (std::size_t i = 0; i < 1023; ++i)
    ASSERT_THAT(Why(world, i),
                HasSubstr("timed out waiting for rank 1023: 1023 of 1024 ranks checked in"));
}

TEST_P(Story, SeveralMissingRanksAreNamedAsRanges) {
  World world(Config(12));
  for (const std::uint32_t rank : {0u, 4u, 9u}) world.AddRank(rank, Instant(0));
  Run(world);
  EXPECT_THAT(Why(world, 0), HasSubstr("ranks 1-3,5-8,10,11"));
  EXPECT_THAT(Why(world, 0), HasSubstr("host0 (1), host1 (1), host2 (1)"));
}

TEST_P(Story, ARankKilledBeforeTheLastCheckInIsNamedAtOnce) {
  World world(Config(4));
  for (std::uint32_t rank = 0; rank < 3; ++rank) world.AddRank(rank, Instant(0));
  world.network().Kill(world.node(1), seconds(2));
  Run(world);
  for (const std::size_t i : {0u, 2u}) {
    EXPECT_THAT(Why(world, i), AllOf(HasSubstr("rank 1 (host host0, pid 1001) was lost"),
                                     HasSubstr("before all ranks had checked in")));
    EXPECT_EQ(world.rank(i).failure()->origin, 1u);
    EXPECT_LE(world.rank(i).ended(), Network::kOrigin + seconds(2) + milliseconds(100));
  }
}

TEST_P(Story, TwoProcessesWithOneRankAreBothNamed) {
  World world(Config(4));
  world.AddRank(0, Instant(0));
  world.AddRank(2, milliseconds(1));
  bootstrap::MemberConfig twin = world.ConfigOf(2);
  twin.member_address.pid = 77;
  world.AddRank(twin, milliseconds(20));
  Run(world);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_THAT(Why(world, i), AllOf(HasSubstr("rank 2 was given to two processes"),
                                     HasSubstr("pid 77"), HasSubstr("pid 1002")));
    EXPECT_EQ(world.rank(i).failure()->code, Code::kInvalidArgument);
  }
}

TEST_P(Story, ALateRankReceivesTheEarlierFailureAtOnce) {
  World world(Config(4));
  world.AddRank(0, Instant(0));
  world.AddRank(2, milliseconds(1));
  bootstrap::MemberConfig twin = world.ConfigOf(2);
  world.AddRank(twin, milliseconds(20));
  world.AddRank(3, seconds(5));
  Run(world);
  EXPECT_THAT(Why(world, 3), HasSubstr("rank 2 was given to two processes"));
  EXPECT_LE(world.rank(3).ended(), Network::kOrigin + seconds(5) + milliseconds(50));
}

TEST_P(Story, RanksThatDisagreeOnTheWorldSizeAreNamed) {
  World world(Config(4));
  world.AddRank(0, Instant(0));
  bootstrap::MemberConfig odd = world.ConfigOf(1);
  odd.size = 5;
  world.AddRank(odd, milliseconds(20));
  Run(world);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_THAT(Why(world, i),
                HasSubstr("rank 1 (host host0, pid 1001) was given world size 5, rank 0 "
                          "(host host0, pid 1000) was given 4"));
}

TEST_P(Story, AWrongSecretIsRefusedAndLoggedOnce) {
  World world(Config(2));
  world.AddRank(0, Instant(0));
  bootstrap::MemberConfig stranger = world.ConfigOf(1);
  stranger.roots[0].credentials.secret[5] ^= std::byte{1};
  world.AddRank(stranger, Instant(0));
  world.AddRank(1, seconds(1));
  Run(world);
  EXPECT_THAT(Why(world, 1), HasSubstr("the secrets differ"));
  EXPECT_LE(world.rank(1).ended(), Network::kOrigin + seconds(1)) << "not at its deadline";
  EXPECT_EQ(world.network().notes().size(), 1u);
  EXPECT_TRUE(world.rank(0).succeeded()) << Why(world, 0);
}

TEST_P(Story, RanksReportAnAbsentRoot) {
  World world(Config(2));
  world.network().Kill(world.root(), Instant(0));
  world.AddAllRanks();
  Run(world);
  EXPECT_THAT(Why(world, 0), AllOf(HasSubstr("timed out connecting to the root"),
                                   HasSubstr("10.255.0.1:1: connection refused")));
}

TEST_P(Story, RanksReportTheDeathOfTheRoot) {
  World world(Config(3));
  world.AddRank(0, Instant(0));
  world.AddRank(1, Instant(0));
  world.network().Kill(world.root(), seconds(1));
  Run(world);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_THAT(Why(world, i),
                HasSubstr("the process that runs the root (host host0, pid 1) was lost"));
}

TEST_P(Story, SilentStrangersDelayNoRank) {
  World quiet(Config(8)), noisy(Config(8));
  for (int i = 0; i < 200; ++i)
    noisy.network().Add(
        std::make_unique<Stranger>(Stranger::Manner::kSilent, World::RootAddress(), i), {},
        Instant(0));
  quiet.AddAllRanks();
  noisy.AddAllRanks();
  Run(quiet);
  Run(noisy);
  for (std::size_t i = 0; i < 8; ++i) {
    ASSERT_TRUE(noisy.rank(i).succeeded()) << Why(noisy, i);
    EXPECT_LE(noisy.rank(i).ended(), quiet.rank(i).ended() + milliseconds(20));
  }
}

TEST_P(Story, AStoppedRankIsFoundByItsSilence) {
  WorldConfig config = Config(6);
  config.silence_max = seconds(4);
  config.timeout = seconds(100);
  World world(config);
  for (std::uint32_t rank = 0; rank < 5; ++rank) world.AddRank(rank, Instant(0));
  world.network().Stop(world.node(3), seconds(1), seconds(90));  // and rank 5 never arrives
  Run(world, seconds(20));
  for (const std::size_t i : {0u, 1u, 2u, 4u}) {
    EXPECT_THAT(Why(world, i), AllOf(HasSubstr("rank 3 (host host0, pid 1003) was lost"),
                                     HasSubstr("no message arrived from it for 4 s")));
    EXPECT_LE(world.rank(i).ended(), Network::kOrigin + seconds(1 + 4 + 2));
  }
}

TEST_P(Story, ACutBetweenTwoIsFoundOnBothSides) {
  WorldConfig config = Config(3);
  config.ranks_per_host = 1;
  config.silence_max = seconds(4);
  config.timeout = seconds(100);
  World world(config);
  world.AddRank(0, Instant(0));
  world.AddRank(1, Instant(0));
  world.network().Cut(0, 1, seconds(1), seconds(1000));
  world.network().Cut(1, 0, seconds(1), seconds(1000));
  Run(world, seconds(20));
  EXPECT_THAT(Why(world, 0), HasSubstr("rank 1 (host host0, pid 1001) was lost"));
  EXPECT_THAT(Why(world, 1), HasSubstr("was lost"));
}

TEST_P(Story, TenThousandStrangersDelayNoRank) {
  World quiet(Config(32)), noisy(Config(32));
  for (int i = 0; i < 10'000; ++i)
    noisy.network().Add(
        std::make_unique<Stranger>(Stranger::Manner::kSilent, World::RootAddress(), i), {},
        Instant(0));
  quiet.AddAllRanks();
  noisy.AddAllRanks();
  Run(quiet);
  Run(noisy);
  for (std::size_t i = 0; i < 32; ++i) {
    ASSERT_TRUE(noisy.rank(i).succeeded()) << Why(noisy, i);
    EXPECT_LE(noisy.rank(i).ended(), quiet.rank(i).ended() + milliseconds(20));
  }
  EXPECT_LE(noisy.network().notes().size(), 33u) << "a line each up to a bound, then a count";
}

// A thousand members compete for sixteen places: no member has to call twice.
TEST_P(Story, MembersBeyondTheHalfOpenLimitWaitTheirTurn) {
  WorldConfig config = Config(GetParam() == Shape::kTree ? 1000 : 200);
  config.half_open_max = 16;
  config.start_spread = Instant(0);
  World world(config);
  world.AddAllRanks();
  Run(world);
  for (std::size_t i = 0; i < config.size; ++i)
    ASSERT_TRUE(world.rank(i).succeeded()) << Why(world, i);
  EXPECT_TRUE(world.network().notes().empty()) << world.network().notes().front();
  EXPECT_EQ(world.network().traffic(world.root()).accepted, config.size);
}

// With ten thousand silent strangers in the queue before them they wait, but not forever.
TEST_P(Story, SilentStrangersInEveryPlaceMakeRoomInTime) {
  WorldConfig config = Config(32);
  config.half_open_max = 1000;
  World world(config);
  for (int i = 0; i < 10'000; ++i)
    world.network().Add(
        std::make_unique<Stranger>(Stranger::Manner::kSilent, World::RootAddress(), i), {},
        Instant(0));
  world.AddAllRanks();
  Run(world);
  for (std::size_t i = 0; i < 32; ++i) {
    ASSERT_TRUE(world.rank(i).succeeded()) << Why(world, i);
    EXPECT_LE(world.rank(i).ended(),
              Network::kOrigin + 10 * CallerQueue::kHurry + milliseconds(200));
  }
}

TEST_P(Story, AMemberThatFinishesEarlyCausesNoFailure) {
  World world(Config(5));
  world.AddAllRanks();
  Run(world);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(world.rank(i).succeeded());
  EXPECT_FALSE(world.rank(0).failure());
}

TEST(Tree, FailureReachesEveryRankInLogarithmicTime) {
  WorldConfig config;
  config.size = 500;
  config.arity = 8;
  config.conditions.latency_min = config.conditions.latency_max = milliseconds(1);
  config.start_spread = Instant(0);
  World world(config);
  for (std::uint32_t rank = 0; rank < config.size; ++rank) world.AddRank(rank, Instant(0));
  world.network().Kill(world.node(250), milliseconds(18));
  ASSERT_TRUE(world.network().Run(seconds(30)));
  int failed = 0;
  for (std::size_t i = 0; i < config.size; ++i) {
    failed += !world.rank(i).succeeded();
    if (i == 250 || world.rank(i).succeeded()) continue;
    EXPECT_EQ(world.rank(i).failure()->origin, 250u);
    // Up the tree and down again: depth is 3 at arity 8.
    EXPECT_LE(world.rank(i).ended(), Network::kOrigin + milliseconds(18 + 2 * 4 + 1));
  }
  EXPECT_EQ(failed, 500);
}

}  // namespace
}  // namespace ringlet::sim
