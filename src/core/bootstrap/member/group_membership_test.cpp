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

}  // namespace
}  // namespace ringlet::bootstrap
