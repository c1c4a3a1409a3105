#include "bootstrap/member/connections.hpp"

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

struct Called : Parts {
  Called() : Parts(AsItIs()) {}
  static MemberConfig AsItIs() {
    MemberConfig config = Config(1, 4);
    config.silence_max = seconds(8);
    return config;
  }
  LineId LineTo(MemberLine role, std::uint32_t peer) {
    connections.Connect(role, peer, FakeRank(peer).addresses, common.now + seconds(1), common.now);
    return Open();
  }
  Connections& connections = common.connections;
};

TEST(Connections, RoutesToARankOverItsFirstConnection) {
  Called called;
  const LineId first = called.LineTo(MemberLine::kChild, 2);
  const LineId second = called.LineTo(MemberLine::kPeerOut, 2);
  EXPECT_EQ(called.connections.RouteTo(2), first);
  EXPECT_EQ(called.connections.LineOf(MemberLine::kPeerOut, 2), second);
  called.connections.Remove(second);
  EXPECT_EQ(called.connections.RouteTo(2), first);
  EXPECT_EQ(called.connections.Remove(first)->peer, 2u);
  EXPECT_EQ(called.connections.RouteTo(2), 0u);
  EXPECT_FALSE(called.connections.HasLineTo(2));
  EXPECT_FALSE(called.connections.Remove(first));
}

TEST(Connections, ANodeLeadersConnectionIsARouteIfItIsTheParent) {
  Called called;
  const LineId line = called.LineTo(MemberLine::kNodeLeader, 0);
  EXPECT_EQ(called.connections.RouteTo(0), 0u);
  EXPECT_EQ(called.connections.MakeParent(line, called.common.now).role, MemberLine::kParent);
  EXPECT_EQ(called.connections.RouteTo(0), line);
}

TEST(Connections, ACallIsFoundByItsRankOrByItsRoot) {
  Called called;
  called.connections.Connect(MemberLine::kRoot, 0, {Address::Ipv4(10, 255, 0, 1, 1)}, seconds(9),
                             called.common.now);
  EXPECT_FALSE(called.connections.CallTo(0)) << "a root is no rank";
  EXPECT_TRUE(called.connections.CallToRoot(0));
  EXPECT_NE(called.connections.CallOn(std::get<Dial>(called.actions.back()).line),
            called.connections.calls().end());
  called.connections.StopCallingRoots();
  EXPECT_FALSE(called.connections.CallToRoot(0));
  EXPECT_TRUE(std::holds_alternative<Hangup>(called.actions.back()));
}

TEST(Connections, ANewCallEndsTheAbsenceOfARank) {
  Called called;
  called.connections.MarkAbsent(3, seconds(4));
  called.connections.MarkAbsent(3, seconds(5));
  EXPECT_EQ(called.connections.AbsentSince(3), seconds(4));
  called.LineTo(MemberLine::kPeerOut, 3);
  EXPECT_FALSE(called.connections.AbsentSince(3));
}

TEST(Connections, ABeatFindsSilentConnections) {
  Called called;
  const LineId silent = called.LineTo(MemberLine::kChild, 2);
  const LineId alive = called.LineTo(MemberLine::kParent, 0);
  Instant now = called.common.now;
  for (int i = 0; i < 3; ++i) {
    now += seconds(2);
    EXPECT_TRUE(called.connections.IsHeartbeatDue(now));
    EXPECT_TRUE(called.connections.SendHeartbeats(now).empty());
    EXPECT_FALSE(called.connections.IsHeartbeatDue(now));
    called.connections.Find(alive)->heard = now;
  }
  EXPECT_EQ(called.connections.Deadline(now), now + seconds(2));
  EXPECT_EQ(called.connections.SendHeartbeats(now + seconds(2)), std::vector{silent});
  EXPECT_EQ(called.TakeSent(silent).size(), 4u) << "each time a word";
}

TEST(Connections, CloseAllSendsFinalFramesToRoots) {
  Called called;
  const LineId root = called.LineTo(MemberLine::kRoot, 0);
  const LineId child = called.LineTo(MemberLine::kChild, 2);
  called.connections.CloseAll(std::nullopt, Slice(Share(ToFrame(FrameType::kReady))));
  EXPECT_EQ(called.TakeSent(root), std::vector{FrameType::kReady});
  EXPECT_TRUE(called.TakeSent(child).empty());
  EXPECT_TRUE(called.connections.lines().empty());
  EXPECT_EQ(called.connections.RouteTo(2), 0u);
}

}  // namespace
}  // namespace ringlet::bootstrap
