#include "bootstrap/member/ranks_below.hpp"

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

TEST(Member, ForwardsPiecesOfTheRosterOnArrival) {
  Scene scene(Config(1, 4));
  scene.CheckIn();
  FarEnd& parent = scene.CallAs(0, Purpose::kTree);
  const Roster roster = RosterOf(4);
  const View whole = roster.bytes().bytes;
  const std::size_t half = whole.size() - 10;
  parent.Transmit(FrameType::kRoster, whole.first(half));
  FarEnd& child = scene.Answer(FakeRank(2).addresses[0]);
  EXPECT_EQ(child.Take(FrameType::kRoster)->payload.bytes.size(), half) << "before it is complete";
  EXPECT_EQ(scene.member.Phase(), "receiving the roster");
  parent.Transmit(FrameType::kRoster, whole.subspan(half));
  EXPECT_EQ(child.Take(FrameType::kRoster)->payload.bytes.size(), 10u);
  EXPECT_EQ(scene.member.roster().size(), 4u);
}

TEST(Member, ALocalRankFailsIfTheRosterHasAnotherNodeLeader) {
  Scene scene(OnHost(3, false));
  FarEnd& node_leader = scene.Answer(Address::Unix("node leader"));
  Writer zero;
  node_leader.Transmit(FrameType::kNodeLeader, zero.U32(0).view());
  node_leader.Transmit(FrameType::kRoster, RosterOf(4, true).bytes().bytes);
  EXPECT_THAT(scene.Why(), HasSubstr("gives rank 3 another place"));
}

TEST(RanksBelow, AreCalledWhenTheirAddressIsKnownAndGetAllPieces) {
  Parts parts(Config(0, 4));
  const Roster roster = RosterOf(4);
  const Slice whole = roster.bytes();
  const std::size_t cut = whole.bytes.size() - 10;
  const Slice first(whole.bytes.first(cut), whole.owner),
      rest(whole.bytes.subspan(cut), whole.owner);
  RosterInbox inbox;
  RanksBelow below;
  below.Keep(first);  // there are no ranks below yet
  below.Define({0, 4}, 2);
  ASSERT_EQ(below.size(), 2u);
  EXPECT_TRUE(below.Call(inbox, parts.common).ok());
  EXPECT_EQ(parts.dials(), 0u);
  ASSERT_TRUE(inbox.Push(first).ok());
  below.Keep(first);
  EXPECT_TRUE(below.Call(inbox, parts.common).ok());
  const std::size_t called = parts.dials();
  EXPECT_GE(called, 1u);
  const LineId early = parts.Open();
  below.OnOpened(early, false, parts.common.connections);
  EXPECT_EQ(parts.TakeSent(early), std::vector{FrameType::kRoster});
  ASSERT_TRUE(inbox.Push(rest).ok());
  below.Keep(rest);
  EXPECT_TRUE(below.Call(inbox, parts.common).ok());
  EXPECT_EQ(parts.dials(), 2u) << "each once";
  const LineId late = parts.Open();
  below.OnOpened(late, true, parts.common.connections);
  EXPECT_EQ(parts.TakeSent(late), (std::vector{FrameType::kRoster, FrameType::kRoster}));
}

TEST(RanksBelow, KeepTheFirstSubtreeDefined) {
  RanksBelow below;
  below.Define({1, 2}, 2);
  below.Define({0, 4}, 2);
  ASSERT_EQ(below.size(), 1u);
  EXPECT_EQ(below.ranges()[0].first, 2u);
}

TEST(CheckPlace, RefusesARosterOfAnotherSizeOrPlace) {
  const MemberConfig config = Config(1, 4);
  EXPECT_TRUE(CheckPlace(RosterOf(4), config, PlaceRange{1, 2}, kNoOrigin).ok());
  EXPECT_FALSE(CheckPlace(RosterOf(4), config, PlaceRange{2, 1}, kNoOrigin).ok());
  EXPECT_FALSE(CheckPlace(RosterOf(4), config, PlaceRange{4, 1}, kNoOrigin).ok());
  EXPECT_THAT(CheckPlace(RosterOf(3), config, PlaceRange{1, 2}, kNoOrigin).error().message,
              HasSubstr("the roster has 3 ranks, not 4"));
  EXPECT_TRUE(CheckPlace(RosterOf(4, true), config, std::nullopt, 0).ok()) << "its node leader";
  EXPECT_FALSE(CheckPlace(RosterOf(4, true), config, std::nullopt, 2).ok());
}

}  // namespace
}  // namespace ringlet::bootstrap
