#include "bootstrap/member/joining.hpp"

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

// ---- tree --------------------------------------------------------------------------------------

TEST(Member, RecordsTheTimeOfEachMilestone) {
  Scene scene(Config(0, 2));
  const Instant begun = scene.driver.now;
  scene.driver.Pass(seconds(1));
  FarEnd& root = scene.CheckIn();
  scene.driver.Pass(seconds(1));
  root.Transmit(FrameType::kRoster, RosterOf(2).bytes().bytes);
  scene.driver.Pass(seconds(1));
  scene.Answer(FakeRank(1).addresses[0]).Transmit(FrameType::kReady);
  const Milestones& milestones = scene.member.milestones();
  EXPECT_EQ(milestones.started, begun);
  EXPECT_EQ(milestones.called, begun + seconds(1));
  EXPECT_EQ(milestones.roster, begun + seconds(2));
  EXPECT_EQ(milestones.connected, begun + seconds(3));
  EXPECT_EQ(milestones.standing, begun + seconds(3));
}

TEST(Member, ForwardsTheRosterInATreeAndThenStands) {
  Middle scene(false);
  EXPECT_FALSE(scene.member.standing());
  EXPECT_EQ(scene.member.Phase(), "connected and waiting for the other ranks to connect");
  scene.parent->Transmit(FrameType::kGo);
  EXPECT_TRUE(scene.member.standing());
  EXPECT_TRUE(scene.child->Take(FrameType::kGo));
  EXPECT_EQ(scene.member.roster().DescribeRank(Rank{3}), "rank 3 (host host1, pid 1003)");
  scene.root->Transmit(FrameType::kDone);
  scene.root->Close();
  EXPECT_FALSE(scene.member.Finished()) << "the root is not needed any more";
  EXPECT_TRUE(scene.driver.notes.empty());
}

TEST(Member, TheTopOfATreeReportsReadyToTheRoot) {
  Scene scene(Config(0, 2));
  FarEnd& root = scene.CheckIn();
  root.Transmit(FrameType::kRoster, RosterOf(2).bytes().bytes);
  EXPECT_EQ(scene.member.Phase(), "connecting to the ranks below: rank 1 (host host0, pid 1001)");
  FarEnd& child = scene.Answer(FakeRank(1).addresses[0]);
  const auto identify = child.Take(FrameType::kIdentify);
  ASSERT_TRUE(identify);
  EXPECT_EQ(Reader(identify->payload.bytes).U32(), 0u);
  EXPECT_FALSE(root.Take(FrameType::kReady));
  EXPECT_EQ(scene.member.Phase(), "connecting to the ranks below: rank 1 (host host0, pid 1001)")
      << "it has not said that it is ready";
  child.Transmit(FrameType::kReady);
  EXPECT_TRUE(root.Take(FrameType::kReady));
  EXPECT_TRUE(scene.member.standing());
}

TEST(Member, AnEarlyStartFrameFailsAndNamesItsSender) {
  Scene scene(Config(1, 4));
  scene.CheckIn();
  scene.CallAs(0, Purpose::kTree).Transmit(FrameType::kGo);
  EXPECT_FALSE(scene.member.standing());
  EXPECT_THAT(scene.Why(), HasSubstr("rank 0 sent an unexpected frame of type 9"));
}

TEST(Member, ASingleRankStandsAtOnce) {
  for (const Shape shape : {Shape::kTree, Shape::kRing}) {
    Scene scene(Config(0, 1, shape));
    FarEnd& root = scene.CheckIn();
    if (shape == Shape::kTree) {
      root.Transmit(FrameType::kRoster, RosterOf(1).bytes().bytes);
    } else {
      Writer out;
      Encode(out, FakeRank(0));
      root.Transmit(FrameType::kNeighbour, out.view());
    }
    EXPECT_TRUE(root.Take(FrameType::kReady));
    root.Transmit(FrameType::kDone);
    EXPECT_TRUE(scene.member.standing());
    scene.member.Gather(false, Bytes(1));
    EXPECT_TRUE(scene.member.TakeTable());
  }
}

TEST(Member, NamesAnUnreachableChildBeforeTheRootGivesUp) {
  Scene scene(Config(0, 2));
  FarEnd& root = scene.CheckIn();
  root.Transmit(FrameType::kRoster, RosterOf(2).bytes().bytes);
  scene.driver.Deliver(Closed{scene.driver.dials.back().line, "no route to host"});
  scene.driver.Pass(seconds(10) - 2 * LadderStep(seconds(10)));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kTimeout);
  EXPECT_EQ(scene.member.failure()->origin, 1u);
  EXPECT_EQ(scene.Why(),
            "rank 1 (host host0, pid 1001) cannot be reached by rank 0 (host host0, pid 1000): "
            "10.0.0.1:99: no route to host");
  EXPECT_EQ(root.TakeFailure(FrameType::kFailure).text, scene.Why());
}

TEST(Member, WaitsPastItsTimeoutForTheRootsRejection) {
  const Instant step = LadderStep(seconds(10));
  Scene scene(Config(1, 2));
  FarEnd& root = scene.CheckIn();
  scene.driver.Pass(seconds(10));
  ASSERT_FALSE(scene.member.Finished());
  EXPECT_EQ(scene.member.Deadline(), scene.driver.now + step);
  root.Transmit(
      ToFrame(FrameType::kReject, {Code::kTimeout, kNoOrigin, "timed out waiting for rank 0"}));
  EXPECT_EQ(scene.Why(), "timed out waiting for rank 0");
  Scene silent(Config(1, 2));
  silent.CheckIn();
  silent.driver.Pass(seconds(10) + step);
  EXPECT_THAT(silent.Why(), HasSubstr("timed out checked in and waiting for the other ranks"));
}

TEST(Member, ARankThatLeavesWhileJoiningFailsTheOthers) {
  Scene scene(Config(1, 4));
  FarEnd& root = scene.CheckIn();
  scene.member.Leave();
  scene.driver.Drain();
  EXPECT_EQ(scene.member.failure()->code, Code::kAborted);
  EXPECT_THAT(root.TakeFailure(FrameType::kFailure).text,
              HasSubstr("rank 1 (host host0, pid 1001) gave up checked in"));
}

// ---- ring --------------------------------------------------------------------------------------

struct InRing : Scene {
  InRing() : Scene(Config(1, 3, Shape::kRing)) {
    root = &CheckIn();
    Writer out;
    Encode(out, FakeRank(2));
    neighbour = out.Take();
    root->Transmit(FrameType::kNeighbour, neighbour);
  }
  Bytes BlockOf(std::uint32_t sequence, std::uint32_t origin) {
    Writer out;
    Encode(out.U64(kWorld), GatherHeader{sequence, false, 0});
    Encode(out.U32(origin), FakeRank(origin));
    return out.Take();
  }
  void BecomeStanding() {
    next = &Answer(FakeRank(2).addresses[0]);
    previous = &CallAs(0, Purpose::kRing);
    previous->Transmit(FrameType::kBlock, BlockOf(1, 0));
    previous->Transmit(FrameType::kBlock, BlockOf(1, 2));
    EXPECT_TRUE(root->Take(FrameType::kReady));
    root->Transmit(FrameType::kDone);
  }
  FarEnd* root;
  FarEnd* next = nullptr;
  FarEnd* previous = nullptr;
  Bytes neighbour;
};

TEST(Member, GathersTheRosterFromThePreviousRankInARing) {
  InRing scene;
  EXPECT_FALSE(scene.member.standing());
  scene.BecomeStanding();
  EXPECT_TRUE(scene.member.standing());
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(*scene.member.roster().At(Rank{rank}), FakeRank(rank));
  EXPECT_TRUE(scene.next->Take(FrameType::kIdentify));
  for (const std::uint32_t origin : {1u, 0u}) {
    const auto block = scene.next->Take();
    ASSERT_TRUE(block);
    Reader in(block->payload.bytes.subspan(8));
    DecodeGatherHeader(in);
    EXPECT_EQ(in.U32(), origin);
  }
  EXPECT_FALSE(scene.next->Take()) << "the next rank has its own";
}

// Each of two ranks calls the other. If one is called first, it sends its block on that connection.
TEST(Member, EitherConnectionCarriesTheBlockInARingOfTwo) {
  for (const bool on_the_line_to_the_next : {true, false}) {
    Scene scene(Config(1, 2, Shape::kRing));
    FarEnd& root = scene.CheckIn();
    Writer address, block;
    Encode(address, FakeRank(0));
    root.Transmit(FrameType::kNeighbour, address.view());
    FarEnd& next = scene.Answer(FakeRank(0).addresses[0]);
    FarEnd& previous = scene.CallAs(0, Purpose::kRing);
    Encode(block.U64(kWorld), GatherHeader{1, false, 0});
    Encode(block.U32(0), FakeRank(0));
    (on_the_line_to_the_next ? next : previous).Transmit(FrameType::kBlock, block.view());
    EXPECT_TRUE(root.Take(FrameType::kReady)) << scene.Why();
    root.Transmit(FrameType::kDone);
    EXPECT_TRUE(scene.member.standing());
  }
}

TEST(Member, RefusesABlockOfTheNextRankInARingOfThree) {
  InRing scene;
  FarEnd& next = scene.Answer(FakeRank(2).addresses[0]);
  next.Transmit(FrameType::kBlock, scene.BlockOf(1, 2));
  EXPECT_THAT(scene.Why(), HasSubstr("rank 2"));
  EXPECT_THAT(scene.Why(), HasSubstr("sent an unexpected frame of type 12"));
}

TEST(Member, IgnoresASecondNeighbourFrameInARing) {
  InRing scene;
  scene.root->Transmit(FrameType::kNeighbour, scene.neighbour);
  scene.BecomeStanding();
  EXPECT_TRUE(scene.member.standing()) << scene.Why();
}

TEST(Member, ThePreviousRankMaySendOnlyBlocksInARing) {
  InRing scene;
  scene.BecomeStanding();
  scene.previous->Transmit(FrameType::kGather, OfGroup(GatherPayload(1, {})));
  EXPECT_THAT(scene.Why(),
              HasSubstr("rank 0 (host host0, pid 1000) sent an unexpected frame of type 10"));
}

// ---- the class alone ---------------------------------------------------------------------------

struct Alone : Parts {
  explicit Alone() : Parts(Config(0, 1)), joining(common) { joining.Begin(); }
  LineId CheckIn() {
    const LineId line = Open();
    joining.OnOpened(line, MemberLine::kRoot, 0);
    return line;
  }
  void RecordReceived(LineId line, FrameType type, View payload) {
    joining.OnFrame(line, *common.connections.Find(line),
                    {static_cast<std::uint8_t>(type), Slice(payload)});
  }
  JoiningMember joining;
};

TEST(JoiningMember, PassesItsStatesAndYieldsAStanding) {
  Alone alone;
  EXPECT_EQ(alone.joining.state(), MemberState::kCalling);
  const LineId root = alone.CheckIn();
  EXPECT_EQ(alone.joining.state(), MemberState::kCheckedIn);
  EXPECT_FALSE(alone.joining.Find(kWorld));
  alone.RecordReceived(root, FrameType::kRoster, RosterOf(1).bytes().bytes);
  EXPECT_EQ(alone.joining.state(), MemberState::kReported);
  ASSERT_TRUE(alone.joining.may_go()) << "no rank is above it";
  EXPECT_EQ(alone.TakeSent(root), (std::vector{FrameType::kCheckIn, FrameType::kReady}));
  const GroupProtocol* const world = alone.joining.Find(kWorld);
  ASSERT_TRUE(world);
  const StandingMember standing = std::move(alone.joining).BecomeStanding();
  EXPECT_EQ(standing.Find(kWorld), world) << "it is handed on";
  EXPECT_EQ(alone.common.milestones.standing, alone.common.now);
}

TEST(JoiningMember, ReportsItsFirstFailureToTheRootAndEndsWithIt) {
  Alone alone;
  const LineId root = alone.CheckIn();
  alone.joining.Abort(Code::kAborted, "no memory", kWorld);
  alone.joining.FailHere(Code::kTimeout, "another");
  const MemberOver over = std::move(alone.joining).End();
  EXPECT_EQ(over.failure->text, "no memory");
  EXPECT_EQ(alone.TakeSent(root), (std::vector{FrameType::kCheckIn, FrameType::kFailure}));
  EXPECT_TRUE(alone.common.connections.lines().empty());
}

}  // namespace
}  // namespace ringlet::bootstrap
