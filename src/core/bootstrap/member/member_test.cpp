#include "bootstrap/member/member.hpp"

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

// ---- endings -----------------------------------------------------------------------------------

TEST(Member, NamesALostPeerAtOnceWhenStanding) {
  Middle scene;
  scene.child->Close("connection reset by peer");
  EXPECT_EQ(scene.member.failure()->code, Code::kPeerLost);
  EXPECT_EQ(scene.member.failure()->origin, 2u);
  EXPECT_THAT(scene.Why(),
              HasSubstr("rank 2 (host host1, pid 1002) was lost: connection reset by peer"));
  EXPECT_EQ(scene.parent->TakeFailure(FrameType::kFailure).text, scene.Why());
}

TEST(Member, WhileJoiningPrefersTheRootsReasonToItsSuspicion) {
  Middle scene(false);
  scene.child->Close();
  EXPECT_FALSE(scene.member.Finished());
  scene.root->Transmit(ToFrame(FrameType::kReject, {Code::kPeerLost, 3, "rank 3 was lost"}));
  EXPECT_EQ(scene.Why(), "rank 3 was lost");
  Middle alive(false);
  alive.root->Transmit(ToFrame(FrameType::kReject, {Code::kPeerLost, 1, "rank 1 was lost"}));
  EXPECT_THAT(alive.Why(), HasSubstr("rank 1 is alive, but a connection to it was cut"));
  Middle silent(false);
  silent.child->Close();
  silent.driver.Pass(*silent.member.Deadline() - silent.driver.now);
  ASSERT_TRUE(silent.member.failure());
  EXPECT_EQ(silent.member.failure()->origin, 2u);
}

TEST(Member, AnUnexpectedFrameFailsAllAndNamesItsSender) {
  Middle parent;
  parent.parent->Transmit(FrameType::kTable, OfGroup(GatherPayload(1, {})));
  EXPECT_THAT(parent.Why(), HasSubstr("rank 0 (host host0, pid 1000) does not fit"));
  EXPECT_EQ(parent.member.failure()->origin, 0u);
  EXPECT_EQ(parent.child->TakeFailure(FrameType::kFailure).text, parent.Why());
  Middle child;
  child.child->Transmit(FrameType::kGo);
  EXPECT_THAT(child.Why(),
              HasSubstr("rank 2 (host host1, pid 1002) sent an unexpected frame of type 9"));
  Middle long_one;
  Writer out;
  out.U32(static_cast<std::uint32_t>(kMemberFrameBytesMax) + 1).U8(10);
  long_one.child->Transmit(out.Take());
  EXPECT_THAT(long_one.Why(),
              HasSubstr("rank 2 (host host1, pid 1002) sent a frame of 1073741825 bytes"));
  Middle kind;
  kind.child->Transmit(FrameType::kGather, OfGroup(GatherPayload(1, {{2, "2"}})));
  kind.member.Gather(true, {});
  EXPECT_THAT(kind.Why(),
              HasSubstr("rank 2 is in all-gather 1 of the control network, rank 1 in barrier 1"));
}

TEST(Member, ClosesAMalformedRootConnectionThatItNoLongerNeeds) {
  Middle scene;
  Writer out;
  out.U32(static_cast<std::uint32_t>(kMemberFrameBytesMax) + 1).U8(2);
  scene.root->Transmit(out.Take());
  EXPECT_TRUE(scene.root->hung_up());
  scene.root->Transmit(FrameType::kBeat);
  EXPECT_FALSE(scene.member.failure());
}

TEST(Member, LeavesWithALeaveFrameToEachNeighbour) {
  Middle scene;
  scene.member.Leave();
  scene.driver.Drain();
  EXPECT_TRUE(scene.member.Finished());
  EXPECT_FALSE(scene.member.failure());
  EXPECT_TRUE(scene.parent->Take(FrameType::kLeave));
  EXPECT_TRUE(scene.child->Take(FrameType::kLeave));
  EXPECT_FALSE(scene.root->Take(FrameType::kLeave));
}

TEST(Member, IgnoresAllEventsAfterItsEnd) {
  Middle scene;
  scene.member.Leave();
  scene.driver.Drain();
  scene.driver.sent.clear();
  scene.driver.Pass(seconds(100));
  scene.driver.Deliver(Accepted{scene.next_line, {}});
  scene.member.Gather(false, {});
  scene.member.Post(Rank{3}, 1, {}, scene.driver.now);
  scene.driver.Drain();
  EXPECT_TRUE(scene.driver.sent.empty());
  EXPECT_FALSE(scene.member.failure());
}

// ---- silence -----------------------------------------------------------------------------------

struct Listening : Middle {
  static MemberConfig Quiet() {
    MemberConfig config = Config(1, 4);
    config.silence_max = seconds(8);
    return config;
  }
  Listening() : Middle(true, Quiet()) {}
};

TEST(Member, SendsHeartbeatsAndReportsASilentPeer) {
  Listening scene;
  EXPECT_EQ(*scene.member.Deadline(), scene.driver.now + seconds(2));
  for (int i = 0; i < 3; ++i) {
    scene.driver.Pass(seconds(2));
    EXPECT_TRUE(scene.child->Take(FrameType::kBeat));
    EXPECT_TRUE(scene.parent->Take(FrameType::kBeat));
    scene.parent->Transmit(FrameType::kBeat);
    scene.root->Transmit(FrameType::kBeat);
  }
  EXPECT_FALSE(scene.member.failure());
  scene.driver.Pass(seconds(2));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->origin, 2u);
  EXPECT_THAT(scene.Why(), HasSubstr("rank 2 (host host1, pid 1002) was lost: no message arrived "
                                     "from it for 8 s: its process is stopped, or the network"));
  EXPECT_TRUE(scene.child->hung_up());
  EXPECT_EQ(scene.parent->TakeFailure(FrameType::kFailure).text, scene.Why());
}

TEST(Member, ReportsASilentStoppedPeerAsStopped) {
  MemberConfig config = Listening::Quiet();
  config.is_stopped = [](std::string_view, std::uint32_t pid) { return pid == 1002; };
  Middle scene(true, config);
  for (int i = 0; i < 4; ++i) {
    scene.driver.Pass(seconds(2));
    scene.parent->Transmit(FrameType::kBeat);
    scene.root->Transmit(FrameType::kBeat);
  }
  EXPECT_THAT(scene.Why(), HasSubstr("no message arrived from it for 8 s: it is stopped (by "
                                     "SIGSTOP or a debugger; kill -CONT 1002 resumes it)"));
}

TEST(Member, ASuspendedRankDoesNotReportItsPeersAsSilent) {
  Listening scene;
  scene.driver.Pass(seconds(60));
  EXPECT_FALSE(scene.member.failure());
  scene.child->Transmit(FrameType::kBeat);
  scene.parent->Transmit(FrameType::kBeat);
  scene.root->Transmit(FrameType::kBeat);
  scene.driver.Pass(seconds(2));
  EXPECT_FALSE(scene.member.failure());
}

// The node leader has not identified itself, and another rank has called earlier.
TEST(Member, ToleratesTheEndOfANodeLeaderThatItDoesNotNeed) {
  MemberConfig config = Config(1, 4);
  config.node_leader = Address::Unix("node leader");
  Scene scene(config);
  FarEnd& node_leader = scene.Answer(Address::Unix("node leader"));
  FarEnd& parent = scene.CallAs(0, Purpose::kTree);
  parent.Transmit(FrameType::kRoster, RosterOf(4).bytes().bytes);
  scene.Answer(FakeRank(2).addresses[0]).Transmit(FrameType::kReady);
  parent.Transmit(FrameType::kGo);
  ASSERT_TRUE(scene.member.standing());
  node_leader.Close();
  EXPECT_TRUE(scene.member.standing());
  EXPECT_FALSE(scene.member.failure());
}

}  // namespace
}  // namespace ringlet::bootstrap
