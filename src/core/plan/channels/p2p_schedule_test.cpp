#include "plan/channels/p2p_schedule.hpp"

#include <gmock/gmock.h>

#include <set>

namespace ringlet::plan {
namespace {

using testing::ElementsAre;

/// Checks that every round pairs each sender with one receiver, and that each pair of ranks meets
/// once.
void ExpectSoundRounds(const std::vector<std::uint32_t>& nodes, std::uint32_t ranks) {
  const P2pSchedule schedule(nodes, {8, 2});
  ASSERT_EQ(schedule.rank_count(), ranks);
  std::vector<std::set<Rank>> met(ranks);
  for (std::uint32_t round = 0; round < schedule.round_count(); ++round)
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const P2pRound mine = schedule.At(round, Rank{rank});
      ASSERT_LT(Index(mine.to), ranks);
      EXPECT_EQ(schedule.At(round, mine.to).from, Rank{rank});
      EXPECT_EQ(schedule.At(round, mine.to).first_channel, mine.first_channel);
      EXPECT_LT(schedule.ChannelOf(mine, 1), 8u);
      EXPECT_TRUE(met[rank].insert(mine.to).second) << "round " << round << ", rank " << rank;
    }
  for (const std::set<Rank>& one : met) EXPECT_EQ(one.size(), ranks);
}

TEST(P2pScheduleTest, EachPairOfRanksMeetsOnceInTheSameRound) {
  ExpectSoundRounds({1}, 1);
  ExpectSoundRounds({8}, 8);
  ExpectSoundRounds({7}, 7);
  ExpectSoundRounds({8, 8}, 16);
  ExpectSoundRounds({16, 8, 8}, 32);
  ExpectSoundRounds({4, 6, 2}, 12);
  ExpectSoundRounds({3, 5}, 8);
  ExpectSoundRounds(std::vector<std::uint32_t>(11, 8), 88);
}

TEST(P2pScheduleTest, NodesAreMetInGrowingSteps) {
  const std::vector<std::uint32_t> nodes(4, 8);
  const P2pSchedule schedule(nodes, {16, 4});
  std::vector<std::uint32_t> to, channels;
  for (std::uint32_t round = 0; round < 32; round += 8) {
    to.push_back(Index(schedule.At(round, Rank{0}).to));
    channels.push_back(schedule.At(round, Rank{0}).first_channel);
  }
  EXPECT_THAT(to, ElementsAre(0, 8, 24, 16));
  EXPECT_THAT(channels, ElementsAre(0, 1, 3, 2));
}

TEST(P2pScheduleTest, RoundsWithinANodeUseDistantChannels) {
  const std::vector<std::uint32_t> nodes = {8};
  const P2pSchedule schedule(nodes, {8, 2});
  std::vector<std::uint32_t> channels;
  for (std::uint32_t round = 0; round < 8; ++round)
    channels.push_back(schedule.At(round, Rank{0}).first_channel);
  EXPECT_THAT(channels, ElementsAre(0, 4, 2, 6, 1, 5, 3, 7));
  EXPECT_EQ(schedule.At(3, Rank{2}), (P2pRound{Rank{5}, Rank{7}, 6}));
}

}  // namespace
}  // namespace ringlet::plan
