#include "bootstrap/member/common.hpp"

#include "bootstrap/member/group_frames.hpp"
#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

TEST(MemberCommon, QueuesAllFramesForARankOnASingleCall) {
  Parts parts(Config(1, 4));
  EXPECT_TRUE(parts.common.PostTo(3, FormFrame(kChild, {5})).ok());
  EXPECT_EQ(parts.dials(), 0u) << "its address is not known yet";
  parts.common.roster = RosterOf(4);
  EXPECT_TRUE(parts.common.PostTo(3, FormFrame(kChild, {5})).ok());
  EXPECT_TRUE(parts.common.PostTo(3, FormFrame(kChild, {6})).ok());
  EXPECT_EQ(parts.dials(), 1u);
  EXPECT_EQ(parts.common.connections.CallTo(3)->waiting.size(), 2u);
  const LineId line = parts.Open();
  EXPECT_TRUE(parts.common.PostTo(3, FormFrame(kChild, {7})).ok());
  EXPECT_EQ(parts.dials(), 1u);
  EXPECT_EQ(parts.TakeSent(line), std::vector{FrameType::kForm});
}

TEST(MemberCommon, ALargeBodyIsSentWithoutACopy) {
  Parts parts(Config(1, 4));
  parts.common.roster = RosterOf(4);
  EXPECT_TRUE(parts.common.PostTo(3, FormFrame(kChild, {5})).ok());
  const LineId line = parts.Open();
  const auto world = CreateWorldMembership(parts.common.config, {}, RosterOf(4));
  const Slice body(Share(Bytes(4096)));
  EXPECT_TRUE(parts.common.SendOut(*world, {3, FrameType::kMessage, Bytes(8), body}).ok());
  EXPECT_EQ(std::get<Send>(parts.actions.back()).data.bytes.data(), body.bytes.data());
  EXPECT_EQ(parts.TakeSent(line), std::vector{FrameType::kMessage});
}

TEST(MemberCommon, NamesARankByHostAndPidIfKnown) {
  Parts parts(Config(1, 4));
  EXPECT_EQ(parts.common.Name(1), "rank 1 (host host0, pid 1001)");
  EXPECT_EQ(parts.common.Name(3), "rank 3");
  parts.common.roster = RosterOf(4);
  EXPECT_EQ(parts.common.Name(3), "rank 3 (host host1, pid 1003)");
}

TEST(MemberCommon, ARingHasOneRootAndNoNodeLeader) {
  MemberConfig config = OnHost(1, true);
  config.roots.push_back(config.roots.front());
  EXPECT_EQ(Parts(config).common.roots(), 2u);
  config.shape = Shape::kRing;
  const Parts ring(config);
  EXPECT_EQ(ring.common.roots(), 1u);
  EXPECT_FALSE(ring.common.config.node_leader);
  EXPECT_FALSE(ring.common.config.speaks);
}

}  // namespace
}  // namespace ringlet::bootstrap
