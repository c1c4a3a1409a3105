#include "bootstrap/member/failure_spread.hpp"

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

TEST(Member, ForwardsAFailureUnchangedOnAllConnections) {
  Middle scene;
  FarEnd& three = scene.CallAs(3, Purpose::kPeer);
  const Failure failure{Code::kPeerLost, 3, "rank 3 was lost"};
  scene.parent->Transmit(FailureFrame(failure));
  EXPECT_EQ(scene.Why(), failure.text);
  for (FarEnd* far : {scene.child, &three}) {
    const Failure heard = far->TakeFailure(FrameType::kFailure);
    EXPECT_EQ(heard.code, failure.code);
    EXPECT_EQ(heard.origin, failure.origin);
    EXPECT_EQ(heard.text, failure.text);
    EXPECT_FALSE(far->hung_up()) << "other groups may live on this line";
  }
  scene.member.Leave();
  scene.driver.Drain();
  EXPECT_TRUE(scene.member.Finished());
  EXPECT_TRUE(three.hung_up());
}

TEST(Member, OwesAFailureToNeighboursThatHaveNotConfirmedIt) {
  Middle scene;
  EXPECT_FALSE(scene.member.AwaitsFailureAnswers()) << "nothing has failed";
  scene.member.Abort(Code::kAborted, "no memory");
  scene.driver.Drain();
  const Bytes failure = FailureFrame({Code::kAborted, 1, "no memory"});
  EXPECT_TRUE(scene.member.AwaitsFailureAnswers());
  scene.child->Transmit(failure);
  EXPECT_TRUE(scene.member.AwaitsFailureAnswers()) << "the parent may not know";
  scene.parent->Transmit(failure);
  EXPECT_FALSE(scene.member.AwaitsFailureAnswers());
}

TEST(Member, OwesAFailureToTheNeighboursOfADepartedRank) {
  Middle scene;
  scene.member.Abort(Code::kAborted, "no memory");
  scene.child->Transmit(FailureFrame({Code::kAborted, 1, "no memory"}));
  scene.parent->Transmit(FrameType::kLeave, OfGroup({}));
  EXPECT_TRUE(scene.member.AwaitsFailureAnswers()) << "rank 3 is next to the parent, and is called";
  FarEnd& three = scene.Answer(FakeRank(3).addresses[0]);
  EXPECT_EQ(three.TakeFailure(FrameType::kFailure).text, "no memory");
  EXPECT_TRUE(scene.member.AwaitsFailureAnswers()) << "it has not answered";
  three.Transmit(FailureFrame({Code::kAborted, 1, "no memory"}));
  EXPECT_FALSE(scene.member.AwaitsFailureAnswers());
}

TEST(Member, AnswersAFailureWithItsOwnFailureOnce) {
  Middle scene;
  scene.member.Abort(Code::kAborted, "no memory");
  FarEnd& three = scene.CallAs(3, Purpose::kPeer);
  three.Transmit(FailureFrame({Code::kSystem, 3, "another"}));
  EXPECT_EQ(three.TakeFailure(FrameType::kFailure).text, "no memory");
  three.Transmit(FailureFrame({Code::kSystem, 3, "another"}));
  EXPECT_FALSE(three.Take(FrameType::kFailure)) << "once";
}

using Ranks = std::vector<std::uint32_t>;

// Rank `self` of seven in a binary tree: 1 and 4 are below 0, 2 and 3 below 1, 5 and 6 below 4.
GroupProtocol InTreeOfSeven(std::uint32_t self) {
  const Roster roster = RosterOf(7);
  GroupProtocol group(
      {.id = kWorld, .self = self, .size = 7, .place = roster.PlaceOf(Rank{self}, 2)});
  group.set_roster(roster);
  return group;
}

bool NoneIsLost(std::uint32_t) {
  return false;
}

Ranks NextOf(FailureSpread& news, const GroupProtocol& group,
             const FailureSpread::IsLost& is_lost = NoneIsLost) {
  Ranks next = news.Next(group, 2, is_lost);
  std::ranges::sort(next);
  return next;
}

TEST(FailureSpread, NotifiesEachNeighbourOnce) {
  const GroupProtocol group = InTreeOfSeven(1);
  FailureSpread news;
  EXPECT_TRUE(news.Begin());
  EXPECT_FALSE(news.Begin()) << "once";
  news.MarkNotified(2);
  EXPECT_EQ(NextOf(news, group), (Ranks{0, 3}));
  EXPECT_EQ(NextOf(news, group), Ranks());
}

TEST(FailureSpread, NotifiesTheNeighboursOfAnAbsentRank) {
  const GroupProtocol group = InTreeOfSeven(1);
  FailureSpread news;
  news.Begin();
  EXPECT_EQ(NextOf(news, group), (Ranks{0, 2, 3}));
  EXPECT_FALSE(news.MarkAbsent(5)) << "nobody has called it";
  EXPECT_TRUE(news.MarkAbsent(0));
  EXPECT_EQ(NextOf(news, group), (Ranks{4}));
}

TEST(FailureSpread, OwesTheNewsUntilItIsConfirmed) {
  const GroupProtocol group = InTreeOfSeven(6);
  FailureSpread news;
  EXPECT_FALSE(news.RecordReceived(3)) << "it has nothing to tell yet";
  news.Begin();
  EXPECT_EQ(NextOf(news, group), (Ranks{4}));
  EXPECT_TRUE(news.AwaitsAnswers(group, NoneIsLost));
  EXPECT_FALSE(news.AwaitsAnswers(group, [](std::uint32_t rank) { return rank == 4; }));
  EXPECT_TRUE(news.RecordReceived(5)) << "it must hear that this one knows";
  EXPECT_FALSE(news.RecordReceived(5));
  EXPECT_FALSE(news.RecordReceived(4)) << "it has been told";
  EXPECT_FALSE(news.AwaitsAnswers(group, NoneIsLost));
}

TEST(FailureSpread, NotifiesBothNeighboursInARing) {
  GroupProtocol group({.id = kWorld, .self = 0, .size = 5, .shape = Shape::kRing});
  FailureSpread news;
  news.Begin();
  EXPECT_EQ(NextOf(news, group), (Ranks{1, 4}));
  news.MarkAbsent(4);
  EXPECT_EQ(NextOf(news, group), (Ranks{3}));
}

}  // namespace
}  // namespace ringlet::bootstrap
