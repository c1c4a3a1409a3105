#include "bootstrap/member/callers.hpp"

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

TEST(Member, RejectsStrangersWithALogLineEach) {
  Middle scene;
  Credentials other = kCredentials;
  other.magic = 1;
  EXPECT_FALSE(scene.Call(Purpose::kTree, other).open());
  FarEnd& garbage = scene.Call(Purpose::kTree);
  garbage.Transmit(FrameType::kGather);
  EXPECT_TRUE(garbage.hung_up());
  FarEnd& nobody = scene.CallAs(99, Purpose::kTree);
  EXPECT_TRUE(nobody.hung_up());
  EXPECT_EQ(scene.driver.notes.size(), 3u);
  EXPECT_THAT(scene.driver.notes[0], HasSubstr("rank 1: turned away a caller from 192.0.2.1"));
  EXPECT_THAT(scene.driver.notes[1], HasSubstr("does not identify its rank"));
  EXPECT_TRUE(scene.member.standing());
}

TEST(Member, RejectsAMemberOnAnUnexpectedConnection) {
  Middle scene;
  EXPECT_TRUE(scene.CallAs(0, Purpose::kTree).hung_up()) << "the parent, a second time";
  EXPECT_TRUE(scene.CallAs(2, Purpose::kTree).hung_up()) << "a child";
  EXPECT_TRUE(scene.CallAs(0, Purpose::kRing).hung_up()) << "there is no ring";
  EXPECT_THAT(scene.driver.notes.at(1),
              HasSubstr("rank 2 is not expected here, or is connected already"));
  EXPECT_FALSE(scene.parent->hung_up());
  Scene early(Config(1, 4));
  EXPECT_TRUE(early.CallAs(0, Purpose::kTree).hung_up()) << "nobody can know us before we check in";
}

TEST(Member, ARingRejectsTheNextRankAndASecondCall) {
  Scene scene(Config(1, 3, Shape::kRing));
  scene.CheckIn();
  EXPECT_TRUE(scene.CallAs(2, Purpose::kRing).hung_up()) << "the next rank";
  FarEnd& previous = scene.CallAs(0, Purpose::kRing);
  EXPECT_TRUE(scene.CallAs(0, Purpose::kRing).hung_up()) << "a second time";
  EXPECT_FALSE(previous.hung_up());
}

TEST(Member, AnAuthenticatedCallerIsNotDropped) {
  Middle scene;
  FarEnd& proven = scene.Call(Purpose::kTree);
  for (int i = 0; i < 4; ++i) scene.driver.Deliver(Accepted{scene.next_line++, {}});
  EXPECT_EQ(scene.driver.hung_up.size(), 1u) << "one of those who say nothing";
  EXPECT_FALSE(proven.hung_up());
}

TEST(Member, SilentCallersAreBoundedAndExpire) {
  Middle scene;
  std::set<LineId> lines;
  for (int i = 0; i < 5; ++i) {
    lines.insert(scene.next_line);
    scene.driver.Deliver(Accepted{scene.next_line++, {}});
  }
  EXPECT_EQ(scene.driver.hung_up, (std::set<LineId>{*lines.begin(), *std::next(lines.begin())}));
  EXPECT_FALSE(scene.member.Accepting());
  EXPECT_EQ(*scene.member.Deadline(), scene.driver.now + CallerQueue::kHurry);
  scene.driver.Pass(CallerQueue::kHurry);
  EXPECT_TRUE(scene.member.Accepting()) << "the oldest has had its time";
  EXPECT_EQ(*scene.member.Deadline(), scene.driver.now - CallerQueue::kHurry + seconds(10));
  scene.driver.Pass(seconds(10));
  EXPECT_EQ(scene.driver.hung_up, lines);
  EXPECT_EQ(scene.driver.notes.size(), 4u) << "the bound on notes";
  EXPECT_TRUE(scene.member.standing());
  EXPECT_FALSE(scene.member.Deadline());
}

TEST(Member, ARingRejectsLocalRanks) {
  MemberConfig config = Config(1, 3, Shape::kRing);
  config.node_leader = Address::Unix("node leader");
  config.speaks = true;
  Scene scene(config);
  scene.CheckIn();
  FarEnd& caller = scene.Call(Purpose::kCheckIn);
  caller.Transmit(ToFrame(CheckIn{2, 3, Shape::kRing, 2, 10'000, {}, FakeRank(2)}));
  EXPECT_EQ(caller.TakeFailure(FrameType::kReject).origin, 2u);
  EXPECT_TRUE(caller.hung_up());
  EXPECT_FALSE(scene.member.Finished());
}

}  // namespace
}  // namespace ringlet::bootstrap
