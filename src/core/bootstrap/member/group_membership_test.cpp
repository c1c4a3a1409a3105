#include "bootstrap/member/group_membership.hpp"

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

TEST(GroupMembership, TheWorldHasTheRanksOfTheConfiguration) {
  const auto world =
      CreateWorldMembership(Config(1, 4), {.parent = 0u, .children = {2u}}, RosterOf(4));
  EXPECT_EQ(world->group.self(), 1u);
  EXPECT_EQ(world->group.place().children, std::vector<std::uint32_t>{2});
  EXPECT_EQ(world->ToWorld(3), 3u);
  EXPECT_EQ(world->FromWorld(3), 3u);
}

TEST(GroupMembership, AGroupNumbersItsParentsRanksInTheGivenOrder) {
  const MemberConfig config = Config(1, 4);
  const auto world = CreateWorldMembership(config, {}, RosterOf(4));
  const auto membership = CreateMembership(kChild, *world, {3, 1}, config);
  ASSERT_TRUE(membership.ok());
  EXPECT_EQ((*membership)->group.self(), 1u);
  EXPECT_EQ((*membership)->group.place().parent, 0u);
  EXPECT_EQ((*membership)->ToWorld(0), 3u);
  EXPECT_EQ((*membership)->FromWorld(1), 1u);
  EXPECT_FALSE((*membership)->FromWorld(2)) << "not in it";
  const auto below = CreateMembership(kChild + 1, **membership, {1}, config);
  ASSERT_TRUE(below.ok());
  EXPECT_EQ((*below)->ToWorld(0), 1u) << "not the rank in its parent";
}

TEST(GroupMembership, TheDigestCoversRanksAndTheirOrder) {
  const MemberConfig config = Config(1, 4);
  const auto world = CreateWorldMembership(config, {}, RosterOf(4));
  const auto digest = [&](const std::vector<std::uint32_t>& ranks) {
    return (*CreateMembership(kChild, *world, ranks, config))->group.digest();
  };
  EXPECT_EQ(digest({3, 1}), digest({3, 1}));
  EXPECT_NE(digest({3, 1}), digest({1, 3}));
  EXPECT_NE(digest({3, 1}), digest({2, 1}));
}

TEST(GroupMembership, AReformedGroupHasTheRanksThatAreNotLost) {
  const MemberConfig config = Config(1, 4);
  const auto world = CreateWorldMembership(config, {}, RosterOf(4));
  world->lost = {0};
  const auto rest = CreateReformed(kChild, *world, config);
  EXPECT_EQ(rest->group.self(), 0u);
  EXPECT_EQ(rest->group.size(), 3u);
  EXPECT_EQ(rest->group.place(), (TreePlace{2u, {1u}})) << "rank 3 replaces rank 0";
  EXPECT_EQ(rest->ToWorld(2), 3u);
  EXPECT_EQ(rest->FromWorld(2), 1u);
  EXPECT_FALSE(rest->FromWorld(0));
  EXPECT_EQ(rest->reformed_from, kWorld);
  EXPECT_EQ(rest->lineage, kWorld);
}

// A rank may have formed an attempt that another rank has skipped.
TEST(GroupMembership, ReformedGroupsOfEqualRanksAreEqual) {
  const MemberConfig config = Config(1, 4);
  const auto world = CreateWorldMembership(config, {}, RosterOf(4));
  world->lost = {0};
  const auto first = CreateReformed(kChild, *world, config);
  first->lost.Insert(3);
  const auto second = CreateReformed(kChild + 1, *first, config);
  world->lost = {0, 3};
  const auto at_once = CreateReformed(kChild + 1, *world, config);
  EXPECT_EQ(second->group.digest(), at_once->group.digest());
  EXPECT_NE(second->group.digest(), first->group.digest());
  EXPECT_EQ(second->ToWorld(1), 2u);
  EXPECT_EQ(second->lineage, kWorld);
  EXPECT_EQ(second->reformed_from, kChild);
}

TEST(GroupMembership, AReformedGroupOfSomeRanksKeepsTheirOrder) {
  const MemberConfig config = Config(1, 4);
  const auto world = CreateWorldMembership(config, {}, RosterOf(4));
  const auto some = CreateMembership(kChild, *world, {3, 2, 1}, config);
  ASSERT_TRUE(some.ok());
  (*some)->lost = {2};
  const auto rest = CreateReformed(kChild + 1, **some, config);
  EXPECT_EQ(rest->group.self(), 1u);
  EXPECT_EQ(rest->ToWorld(0), 3u);
  EXPECT_EQ(rest->lineage, kChild);
  EXPECT_EQ(rest->group.roster().DescribeRank(Rank{0}), "rank 0 (host host1, pid 1003)");
  const auto below = CreateMembership(kChild + 2, *rest, {1}, config);
  ASSERT_TRUE(below.ok());
  EXPECT_EQ((*below)->ToWorld(0), 1u);
}

}  // namespace
}  // namespace ringlet::bootstrap
