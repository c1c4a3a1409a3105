#include <fmt/format.h>

#include "bootstrap/difference.hpp"
#include "bootstrap/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

// ---- the root ---------------------------------------------------------------------------------

TEST(Member, ChecksInWithWhatItIs) {
  Scene scene(Config(3, 8));
  scene.driver.Pass(seconds(2));
  FarEnd& root = scene.Answer(Address::Ipv4(10, 255, 0, 1, 1));
  const auto frame = root.Take(FrameType::kCheckIn);
  ASSERT_TRUE(frame);
  const auto check_in = ParseCheckIn(frame->payload.bytes);
  ASSERT_TRUE(check_in.ok());
  EXPECT_EQ(check_in->rank, 3u);
  EXPECT_EQ(check_in->size, 8u);
  EXPECT_EQ(check_in->shape, Shape::kTree);
  EXPECT_EQ(check_in->arity, 2);
  EXPECT_EQ(check_in->timeout_ms, 8000u) << "what is left of its timeout";
  EXPECT_EQ(check_in->member_address, FakeRank(3));
  EXPECT_EQ(scene.member.Phase(), "checked in and waiting for the first answer of the root");
  root.Say(ToFrame(Welcome{"roothost", 5, {}}));
  EXPECT_EQ(scene.member.Phase(), "checked in and waiting for the other ranks");
}

TEST(Member, EveryMilestoneHasItsTime) {
  Scene scene(Config(0, 2));
  const Instant begun = scene.driver.now;
  scene.driver.Pass(seconds(1));
  FarEnd& root = scene.CheckIn();
  scene.driver.Pass(seconds(1));
  root.Say(FrameType::kRoster, RosterOf(2).bytes().bytes);
  scene.driver.Pass(seconds(1));
  scene.Answer(FakeRank(1).addresses[0]).Say(FrameType::kReady);
  const Milestones& milestones = scene.member.milestones();
  EXPECT_EQ(milestones.started, begun);
  EXPECT_EQ(milestones.called, begun + seconds(1));
  EXPECT_EQ(milestones.roster, begun + seconds(2));
  EXPECT_EQ(milestones.connected, begun + seconds(3));
  EXPECT_EQ(milestones.standing, begun + seconds(3));
}

TEST(Member, ARefusedDialIsTriedAgain) {
  Scene scene(Config(0, 2));
  for (int i = 0; i < 5; ++i) {
    scene.driver.Tell(Closed{scene.driver.dials.back().line, "connection refused"});
    EXPECT_FALSE(scene.member.Finished());
    scene.driver.Pass(*scene.member.Deadline() - scene.driver.now);
    ASSERT_EQ(scene.driver.dials.size(), static_cast<std::size_t>(i) + 2);
  }
  EXPECT_THAT(scene.member.Phase(),
              HasSubstr("connecting to the root (10.255.0.1:1: connection refused)"));
  const Dial last = scene.driver.dials.back();
  FarEnd root(scene.driver, last, kCredentials);
  EXPECT_TRUE(root.Take(FrameType::kCheckIn));
}

TEST(Member, ARootThatNeverAnswersIsATimeout) {
  Scene scene(Config(1, 2));
  scene.driver.Tell(Closed{scene.driver.dials.back().line, "connection refused"});
  scene.driver.Pass(seconds(10));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kTimeout);
  EXPECT_THAT(scene.Why(),
              AllOf(HasSubstr("rank 1 (host host0, pid 1001) timed out connecting to the root"),
                    HasSubstr("connection refused")));
  EXPECT_TRUE(scene.member.Finished());
  EXPECT_FALSE(scene.member.Deadline());
}

TEST(Member, ARootThatWasThereAndIsGoneIsNoTimeout) {
  MemberConfig config = Config(1, 2);
  config.roots[0].was_there = true;
  config.timeout = seconds(300);
  Scene scene(config);
  const Instant begun = scene.driver.now;
  while (!scene.member.Finished() && scene.driver.now - begun < seconds(10)) {
    scene.driver.Tell(Closed{scene.driver.dials.back().line, "connection refused"});
    if (!scene.member.Finished()) scene.driver.Pass(*scene.member.Deadline() - scene.driver.now);
  }
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kPeerLost);
  EXPECT_GE(scene.driver.now - begun, seconds(3)) << "a moment without a listener is no end";
  EXPECT_EQ(scene.Why(),
            "the process that runs the root (10.255.0.1:1) was lost while rank 1 was "
            "connecting to the root (10.255.0.1:1: connection refused): connection "
            "refused");
}

TEST(Member, AWrongSecretFailsAtOnceAndClearly) {
  Scene scene(Config(1, 2));
  Credentials other = kCredentials;
  other.secret[0] = std::byte{1};
  scene.Answer(Address::Ipv4(10, 255, 0, 1, 1), other);
  ASSERT_TRUE(scene.member.Finished());
  EXPECT_EQ(scene.member.failure()->code, Code::kProtocol);
  EXPECT_THAT(scene.Why(), AllOf(HasSubstr("the root cannot be reached by rank 1"),
                                 HasSubstr("the secrets differ")));
}

TEST(Member, AnotherCommunicatorsRootFailsAtOnceAndClearly) {
  Scene scene(Config(1, 2));
  scene.Answer(Address::Ipv4(10, 255, 0, 1, 1), {78, {}});
  EXPECT_THAT(scene.Why(), HasSubstr("this unique id is stale"));
}

TEST(Member, ARejectionIsItsFailureUnchanged) {
  Scene scene(Config(1, 2));
  scene.CheckIn().Say(
      ToFrame(FrameType::kReject, {Code::kTimeout, kNoOrigin, "timed out waiting for rank 0"}));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kTimeout);
  EXPECT_EQ(scene.member.failure()->origin, kNoOrigin);
  EXPECT_EQ(scene.Why(), "timed out waiting for rank 0");
}

TEST(Member, ARootThatIsLostIsNamed) {
  Scene scene(Config(1, 2));
  scene.CheckIn().Close("connection reset by peer");
  EXPECT_EQ(scene.member.failure()->code, Code::kPeerLost);
  EXPECT_EQ(
      scene.Why(),
      "the process that runs the root (host roothost, pid 5) was lost while rank 1 was checked "
      "in and waiting for the other ranks: connection reset by peer");
}

TEST(Member, ARootThatIsARankTooIsNamedAsThat) {
  Scene scene(Config(1, 2));
  scene.CheckIn(0).Close();
  EXPECT_EQ(scene.member.failure()->origin, 0u);
  EXPECT_THAT(scene.Why(),
              HasSubstr("rank 0 (host roothost, pid 5), which also runs the root, was lost"));
}

TEST(Member, FramesOfTheRootThatDoNotFitAreTheRootsFault) {
  Scene wrong(Config(1, 2));
  wrong.CheckIn().Say(FrameType::kGather);
  EXPECT_EQ(wrong.Why(), "the root sent a frame of type 10 that does not fit");
  Scene twisted(Config(1, 2));
  Writer payload;
  Encode(payload, Failure{Code::kTimeout, kNoOrigin, "a failure, where a welcome should be"});
  twisted.CheckIn().Say(FrameType::kWelcome, payload.view());
  EXPECT_THAT(twisted.Why(), HasSubstr("that does not fit"));
  Scene cut_short(Config(1, 2));
  cut_short.CheckIn().Say(FrameType::kReject, AsView("?"));
  EXPECT_EQ(cut_short.Why(), "the root sent a frame of type 3 that does not fit");
  Scene early(Config(1, 2, Shape::kRing));
  early.CheckIn().Say(FrameType::kDone);
  EXPECT_EQ(early.Why(), "the root sent a frame of type 6 that does not fit")
      << "before all was ready";
  Scene roster(Config(0, 2));
  roster.CheckIn().Say(FrameType::kRoster, RosterOf(3).bytes().bytes);
  EXPECT_EQ(roster.Why(), "the roster has 3 ranks, not 2");
  Scene long_one(Config(1, 2));
  Writer out;
  out.U32(static_cast<std::uint32_t>(kMemberFrameBytesMax) + 1).U8(2);
  long_one.CheckIn().Say(out.Take());
  EXPECT_THAT(long_one.Why(), HasSubstr("the root sent a frame of 1073741825 bytes"));
}

// ---- tree -------------------------------------------------------------------------------------

TEST(Member, InATreeItPassesTheRosterReportsAndGoes) {
  Middle scene(false);
  EXPECT_FALSE(scene.member.standing());
  EXPECT_EQ(scene.member.Phase(), "connected and waiting for the other ranks to connect");
  scene.parent->Say(FrameType::kGo);
  EXPECT_TRUE(scene.member.standing());
  EXPECT_TRUE(scene.child->Take(FrameType::kGo));
  EXPECT_EQ(scene.member.roster().DescribeRank(Rank{3}), "rank 3 (host host1, pid 1003)");
  scene.root->Say(FrameType::kDone);
  scene.root->Close();
  EXPECT_FALSE(scene.member.Finished()) << "the root is not needed any more";
  EXPECT_TRUE(scene.driver.notes.empty());
}

TEST(Member, TheTopOfATreeReportsToTheRoot) {
  Scene scene(Config(0, 2));
  FarEnd& root = scene.CheckIn();
  root.Say(FrameType::kRoster, RosterOf(2).bytes().bytes);
  EXPECT_EQ(scene.member.Phase(), "connecting to the ranks below: rank 1 (host host0, pid 1001)");
  FarEnd& child = scene.Answer(FakeRank(1).addresses[0]);
  const auto identify = child.Take(FrameType::kIdentify);
  ASSERT_TRUE(identify);
  EXPECT_EQ(Reader(identify->payload.bytes).U32(), 0u);
  EXPECT_FALSE(root.Take(FrameType::kReady));
  EXPECT_EQ(scene.member.Phase(), "connecting to the ranks below: rank 1 (host host0, pid 1001)")
      << "it has not said that it is ready";
  child.Say(FrameType::kReady);
  EXPECT_TRUE(root.Take(FrameType::kReady));
  EXPECT_TRUE(scene.member.standing());
}

TEST(Member, OfManyThatItConnectsToEightAreNamed) {
  for (const std::uint32_t below : {8u, 9u}) {
    MemberConfig config = Config(0, below + 1);
    config.arity = static_cast<std::uint16_t>(below);
    Scene scene(config);
    scene.CheckIn().Say(FrameType::kRoster, RosterOf(below + 1).bytes().bytes);
    EXPECT_THAT(scene.member.Phase(), HasSubstr(", rank 8 (host host4, pid 1008)"));
    EXPECT_THAT(scene.member.Phase(), testing::Not(HasSubstr("rank 9")));
    EXPECT_EQ(scene.member.Phase().ends_with(", ..."), below > 8);
  }
}

TEST(Member, AGoThatComesBeforeItIsReadyNamesItsSender) {
  Scene scene(Config(1, 4));
  scene.CheckIn();
  scene.CallAs(0, Purpose::kTree).Say(FrameType::kGo);
  EXPECT_FALSE(scene.member.standing());
  EXPECT_THAT(scene.Why(), HasSubstr("rank 0 sent a frame of type 9 that does not fit"));
}

TEST(Member, AloneItStandsAtOnce) {
  for (const Shape shape : {Shape::kTree, Shape::kRing}) {
    Scene scene(Config(0, 1, shape));
    FarEnd& root = scene.CheckIn();
    if (shape == Shape::kTree) {
      root.Say(FrameType::kRoster, RosterOf(1).bytes().bytes);
    } else {
      Writer out;
      Encode(out, FakeRank(0));
      root.Say(FrameType::kNeighbour, out.view());
    }
    EXPECT_TRUE(root.Take(FrameType::kReady));
    root.Say(FrameType::kDone);
    EXPECT_TRUE(scene.member.standing());
    scene.member.Gather(false, Bytes(1));
    EXPECT_TRUE(scene.member.TakeTable());
  }
}

TEST(Member, AChildThatCannotBeReachedIsNamedBeforeTheRootGivesUp) {
  Scene scene(Config(0, 2));
  FarEnd& root = scene.CheckIn();
  root.Say(FrameType::kRoster, RosterOf(2).bytes().bytes);
  scene.driver.Tell(Closed{scene.driver.dials.back().line, "no route to host"});
  scene.driver.Pass(seconds(10) - 2 * LadderStep(seconds(10)));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kTimeout);
  EXPECT_EQ(scene.member.failure()->origin, 1u);
  EXPECT_EQ(scene.Why(),
            "rank 1 (host host0, pid 1001) cannot be reached by rank 0 (host host0, pid 1000): "
            "10.0.0.1:99: no route to host");
  EXPECT_EQ(root.TakeFailure(FrameType::kFailure).text, scene.Why());
}

// Config, on a host whose rank 1 is stopped.
MemberConfig BesideAStoppedRank(MemberConfig config) {
  config.is_stopped = [](std::string_view host, std::uint32_t pid) {
    return host == "host0" && pid == 1001;
  };
  return config;
}
constexpr const char* kStopped =
    "is stopped (SIGSTOP or a debugger; kill -CONT 1001 lets it go on)";

TEST(Member, AStoppedChildIsNamedAsStopped) {
  Scene scene(BesideAStoppedRank(Config(0, 2)));
  scene.CheckIn().Say(FrameType::kRoster, RosterOf(2).bytes().bytes);
  EXPECT_EQ(scene.member.Phase(), fmt::format("connecting to the ranks below: rank 1 (host host0, "
                                              "pid 1001) {}",
                                              kStopped));
  scene.driver.Pass(seconds(10) - 2 * LadderStep(seconds(10)));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kTimeout);
  EXPECT_EQ(scene.member.failure()->origin, 1u);
  EXPECT_THAT(scene.Why(),
              AllOf(testing::StartsWith(fmt::format("rank 1 (host host0, pid 1001) {};", kStopped)),
                    testing::Not(HasSubstr("10.0.0.1"))));
}

TEST(Member, AStoppedNodeLeaderIsNamedAsStopped) {
  MemberConfig config = BesideAStoppedRank(Config(0, 4));
  config.node_leader = Address::Unix("node leader");
  Scene scene(config);
  scene.driver.Tell(Connected{scene.driver.dials.back().line, 1001});
  scene.driver.Pass(seconds(10));
  EXPECT_EQ(scene.Why(), fmt::format("rank 0 (host host0, pid 1000) timed out connecting to the "
                                     "rank that speaks for this host, which {}",
                                     kStopped));
}

TEST(Member, WaitsAStepLongerForTheWordOfTheRoot) {
  const Instant step = LadderStep(seconds(10));
  Scene scene(Config(1, 2));
  FarEnd& root = scene.CheckIn();
  scene.driver.Pass(seconds(10));
  ASSERT_FALSE(scene.member.Finished());
  EXPECT_EQ(scene.member.Deadline(), scene.driver.now + step);
  root.Say(
      ToFrame(FrameType::kReject, {Code::kTimeout, kNoOrigin, "timed out waiting for rank 0"}));
  EXPECT_EQ(scene.Why(), "timed out waiting for rank 0");
  Scene silent(Config(1, 2));
  silent.CheckIn();
  silent.driver.Pass(seconds(10) + step);
  EXPECT_THAT(silent.Why(), HasSubstr("timed out checked in and waiting for the other ranks"));
}

TEST(Member, AnAllGatherGoesUpAndComesDown) {
  Middle scene;
  scene.member.Gather(false, Bytes(1, std::byte{'1'}));
  scene.driver.Drain();
  EXPECT_EQ(scene.member.Phase(),
            "in collective 1 of the control network, waiting for rank 2 or those below it");
  EXPECT_FALSE(scene.parent->Take(FrameType::kGather));
  scene.child->Say(FrameType::kGather, OfGroup(GatherPayload(1, {{2, "2"}})));
  const auto up = scene.parent->Take(FrameType::kGather);
  ASSERT_TRUE(up);
  EXPECT_EQ(Bytes(up->payload.bytes.begin(), up->payload.bytes.end()),
            OfGroup(GatherPayload(1, {{1, "1"}, {2, "2"}})));
  scene.parent->Say(FrameType::kTable, OfGroup(TablePayload(1, {"0", "1", "2", "3"})));
  EXPECT_TRUE(scene.child->Take(FrameType::kTable));
  const auto table = scene.member.TakeTable();
  ASSERT_TRUE(table);
  EXPECT_EQ(AsText(table->At(Rank{3})), "3");
  EXPECT_FALSE(scene.member.TakeTable()) << "once";
  EXPECT_EQ(scene.member.Phase(), "in normal operation");
}

TEST(Member, AFrameThatDoesNotFitFailsAllAndNamesItsSender) {
  Middle parent;
  parent.parent->Say(FrameType::kTable, OfGroup(GatherPayload(1, {})));
  EXPECT_THAT(parent.Why(), HasSubstr("rank 0 (host host0, pid 1000) does not fit"));
  EXPECT_EQ(parent.member.failure()->origin, 0u);
  EXPECT_EQ(parent.child->TakeFailure(FrameType::kFailure).text, parent.Why());
  Middle child;
  child.child->Say(FrameType::kGo);
  EXPECT_THAT(child.Why(),
              HasSubstr("rank 2 (host host1, pid 1002) sent a frame of type 9 that does not fit"));
  Middle long_one;
  Writer out;
  out.U32(static_cast<std::uint32_t>(kMemberFrameBytesMax) + 1).U8(10);
  long_one.child->Say(out.Take());
  EXPECT_THAT(long_one.Why(),
              HasSubstr("rank 2 (host host1, pid 1002) sent a frame of 1073741825 bytes"));
  Middle kind;
  kind.child->Say(FrameType::kGather, OfGroup(GatherPayload(1, {{2, "2"}})));
  kind.member.Gather(true, {});
  EXPECT_THAT(kind.Why(),
              HasSubstr("rank 2 is in all-gather 1 of the control network, rank 1 in barrier 1"));
}

// ---- ring -------------------------------------------------------------------------------------

struct InRing : Scene {
  InRing() : Scene(Config(1, 3, Shape::kRing)) {
    root = &CheckIn();
    Writer out;
    Encode(out, FakeRank(2));
    neighbour = out.Take();
    root->Say(FrameType::kNeighbour, neighbour);
  }
  Bytes BlockOf(std::uint32_t sequence, std::uint32_t origin) {
    Writer out;
    Encode(out.U64(kWorld), GatherHeader{sequence, false, 0});
    Encode(out.U32(origin), FakeRank(origin));
    return out.Take();
  }
  void Stand() {
    next = &Answer(FakeRank(2).addresses[0]);
    previous = &CallAs(0, Purpose::kRing);
    previous->Say(FrameType::kBlock, BlockOf(1, 0));
    previous->Say(FrameType::kBlock, BlockOf(1, 2));
    EXPECT_TRUE(root->Take(FrameType::kReady));
    root->Say(FrameType::kDone);
  }
  FarEnd* root;
  FarEnd* next = nullptr;
  FarEnd* previous = nullptr;
  Bytes neighbour;
};

TEST(Member, InARingItGathersTheRosterFromBehind) {
  InRing scene;
  EXPECT_FALSE(scene.member.standing());
  scene.Stand();
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

// Each of two ranks calls the other: a rank that is called first sends its block on that line.
TEST(Member, InARingOfTwoEitherLineCarriesTheBlock) {
  for (const bool on_the_line_to_the_next : {true, false}) {
    Scene scene(Config(1, 2, Shape::kRing));
    FarEnd& root = scene.CheckIn();
    Writer address, block;
    Encode(address, FakeRank(0));
    root.Say(FrameType::kNeighbour, address.view());
    FarEnd& next = scene.Answer(FakeRank(0).addresses[0]);
    FarEnd& previous = scene.CallAs(0, Purpose::kRing);
    Encode(block.U64(kWorld), GatherHeader{1, false, 0});
    Encode(block.U32(0), FakeRank(0));
    (on_the_line_to_the_next ? next : previous).Say(FrameType::kBlock, block.view());
    EXPECT_TRUE(root.Take(FrameType::kReady)) << scene.Why();
    root.Say(FrameType::kDone);
    EXPECT_TRUE(scene.member.standing());
  }
}

TEST(Member, InARingOfThreeTheNextRankSendsNoBlock) {
  InRing scene;
  FarEnd& next = scene.Answer(FakeRank(2).addresses[0]);
  next.Say(FrameType::kBlock, scene.BlockOf(1, 2));
  EXPECT_THAT(scene.Why(), HasSubstr("rank 2"));
  EXPECT_THAT(scene.Why(), HasSubstr("sent a frame of type 12 that does not fit"));
}

TEST(Member, ASecondNeighbourIsIgnored) {
  InRing scene;
  scene.root->Say(FrameType::kNeighbour, scene.neighbour);
  scene.Stand();
  EXPECT_TRUE(scene.member.standing()) << scene.Why();
}

TEST(Member, InARingOnlyBlocksComeFromBehind) {
  InRing scene;
  scene.Stand();
  scene.previous->Say(FrameType::kGather, OfGroup(GatherPayload(1, {})));
  EXPECT_THAT(scene.Why(), HasSubstr("rank 0 (host host0, pid 1000) sent a frame of type 10"));
}

TEST(Member, ARootThatHangsUpBeforeItsWelcomeIsCalledAgainUnlessItIsGone) {
  Scene scene(Config(1, 2));
  for (int i = 0; i < 3; ++i) {
    scene.Answer(Address::Ipv4(10, 255, 0, 1, 1)).Close();
    ASSERT_FALSE(scene.member.Finished()) << "it had too many callers";
    if (scene.driver.dials.size() == scene.answered.size()) scene.driver.Pass(seconds(1));
  }
  scene.driver.Tell(Closed{scene.driver.dials.back().line, "connection refused"});
  EXPECT_EQ(scene.member.failure()->code, Code::kPeerLost);
  EXPECT_THAT(scene.Why(), HasSubstr("the process that runs the root"));
}

// ---- together with the ranks of the host ------------------------------------------------------

MemberConfig OnHost(std::uint32_t rank, bool speaks) {
  MemberConfig config = Config(rank, 4);
  config.node_leader = Address::Unix("node leader");
  config.speaks = speaks;
  return config;
}

TEST(Member, ALocalRankChecksInWithTheNodeLeaderOfItsHost) {
  Scene scene(OnHost(3, false));
  FarEnd& node_leader = scene.Answer(Address::Unix("node leader"));
  ASSERT_TRUE(node_leader.Take(FrameType::kCheckIn));
  EXPECT_EQ(scene.driver.dials.size(), 1u) << "no dial to the root";
  Writer two;
  node_leader.Say(FrameType::kNodeLeader, two.U32(2).view());
  node_leader.Say(ToFrame(Welcome{"roothost", 5, 0}));
  node_leader.Say(FrameType::kRoster, RosterOf(4, true).bytes().bytes);
  EXPECT_TRUE(node_leader.Take(FrameType::kReady));
  node_leader.Say(FrameType::kGo);
  EXPECT_TRUE(scene.member.standing());
  EXPECT_EQ(*scene.member.roster().At(Rank{1}), FakeRank(1));
}

TEST(Member, ALocalRankOfAnotherThanTheRostersNodeLeaderFails) {
  Scene scene(OnHost(3, false));
  FarEnd& node_leader = scene.Answer(Address::Unix("node leader"));
  Writer zero;
  node_leader.Say(FrameType::kNodeLeader, zero.U32(0).view());
  node_leader.Say(FrameType::kRoster, RosterOf(4, true).bytes().bytes);
  EXPECT_THAT(scene.Why(), HasSubstr("gives rank 3 another place"));
}

TEST(Member, ANodeLeaderThatIsNotThereOrVanishesIsDoneWithout) {
  Scene refused(OnHost(3, false));
  refused.driver.Tell(Closed{refused.driver.dials.back().line, "connection refused"});
  for (int i = 0; i < 20 && refused.driver.dials.back().to != Address::Ipv4(10, 255, 0, 1, 1);
       ++i) {
    refused.driver.Pass(milliseconds(50));
    if (refused.driver.dials.back().to.kind == Address::Kind::kUnix)
      refused.driver.Tell(Closed{refused.driver.dials.back().line, "connection refused"});
  }
  EXPECT_TRUE(refused.CheckIn().open());
  Scene vanished(OnHost(3, false));
  vanished.Answer(Address::Unix("node leader")).Close();
  EXPECT_TRUE(vanished.CheckIn().open());
}

TEST(Member, ANodeLeaderPassesItsHostOnAndIsItsParent) {
  Scene scene(OnHost(2, true));
  FarEnd& root = scene.CheckIn();
  FarEnd& local_rank = scene.Call(Purpose::kCheckIn);
  local_rank.Say(ToFrame(CheckIn{3, 4, Shape::kTree, 2, 10'000, {}, FakeRank(3)}));
  EXPECT_EQ(Reader(local_rank.Take(FrameType::kNodeLeader)->payload.bytes).U32(), 2u);
  EXPECT_EQ(ParseWelcome(local_rank.Take(FrameType::kWelcome)->payload.bytes)->host, "roothost");
  const auto passed = ParseLocalRank(root.Take(FrameType::kLocalRank)->payload.bytes);
  ASSERT_TRUE(passed.ok());
  EXPECT_EQ(passed->check_in.rank, 3u);
  EXPECT_EQ(*ApplyDifference(RecordOf(FakeRank(2)), passed->difference, 1000),
            RecordOf(FakeRank(3)));

  FarEnd& parent = scene.Call(Purpose::kTree);
  parent.Say(bootstrap::Call(0, {1, 1}));
  parent.Say(FrameType::kRoster, RosterOf(4, true).bytes().bytes);
  EXPECT_TRUE(local_rank.Take(FrameType::kRoster));
  EXPECT_FALSE(parent.Take(FrameType::kReady));
  local_rank.Say(FrameType::kReady);
  EXPECT_TRUE(parent.Take(FrameType::kReady));
  parent.Say(FrameType::kGo);
  EXPECT_TRUE(local_rank.Take(FrameType::kGo));
  ASSERT_TRUE(scene.member.standing());
  FarEnd& late = scene.Call(Purpose::kCheckIn);
  late.Say(ToFrame(CheckIn{1, 4, Shape::kTree, 2, 10'000, {}, FakeRank(1)}));
  EXPECT_THAT(late.TakeFailure(FrameType::kReject).text, HasSubstr("make a new one"));
  EXPECT_TRUE(scene.member.standing());
}

TEST(Member, ALocalRankThatIsLostBeforeTheRosterEndsAllAtOnce) {
  Scene scene(OnHost(2, true));
  FarEnd& root = scene.CheckIn();
  FarEnd& local_rank = scene.Call(Purpose::kCheckIn);
  local_rank.Say(ToFrame(CheckIn{3, 4, Shape::kTree, 2, 10'000, {}, FakeRank(3)}));
  local_rank.Close("connection reset by peer");
  ASSERT_TRUE(scene.member.failure()) << "nobody else can know";
  EXPECT_EQ(scene.member.failure()->code, Code::kPeerLost);
  EXPECT_EQ(scene.member.failure()->origin, 3u);
  EXPECT_THAT(scene.Why(),
              HasSubstr("rank 3 (host host1, pid 1003) was lost: connection reset by peer"));
  EXPECT_EQ(root.TakeFailure(FrameType::kFailure).text, scene.Why());
}

TEST(Member, InARingThereIsNoNodeLeader) {
  MemberConfig config = Config(1, 3, Shape::kRing);
  config.node_leader = Address::Unix("node leader");
  config.speaks = true;
  Scene scene(config);
  scene.CheckIn();
  FarEnd& caller = scene.Call(Purpose::kCheckIn);
  caller.Say(ToFrame(CheckIn{2, 3, Shape::kRing, 2, 10'000, {}, FakeRank(2)}));
  EXPECT_EQ(caller.TakeFailure(FrameType::kReject).origin, 2u);
  EXPECT_TRUE(caller.hung_up());
  EXPECT_FALSE(scene.member.Finished());
}

TEST(Member, ARosterInPiecesIsPassedOnAsItComes) {
  Scene scene(Config(1, 4));
  scene.CheckIn();
  FarEnd& parent = scene.CallAs(0, Purpose::kTree);
  const Roster roster = RosterOf(4);
  const View whole = roster.bytes().bytes;
  const std::size_t half = whole.size() - 10;
  parent.Say(FrameType::kRoster, whole.first(half));
  FarEnd& child = scene.Answer(FakeRank(2).addresses[0]);
  EXPECT_EQ(child.Take(FrameType::kRoster)->payload.bytes.size(), half) << "before it is complete";
  EXPECT_EQ(scene.member.Phase(), "receiving the roster");
  parent.Say(FrameType::kRoster, whole.subspan(half));
  EXPECT_EQ(child.Take(FrameType::kRoster)->payload.bytes.size(), 10u);
  EXPECT_EQ(scene.member.roster().size(), 4u);
}

// ---- several roots ----------------------------------------------------------------------------

TEST(Member, TheRootDelegateOfARootCarriesWhatItCollectsToTheFirst) {
  MemberConfig config = Config(2, 4);
  config.roots.push_back({kCredentials, {Address::Ipv4(10, 255, 1, 1, 1)}});
  Scene scene(config);
  FarEnd& own = scene.Answer(Address::Ipv4(10, 255, 1, 1, 1));
  FarEnd& first = scene.Answer(Address::Ipv4(10, 255, 0, 1, 1));
  for (FarEnd* root : {&first, &own}) {
    const auto check_in = ParseCheckIn(root->Take(FrameType::kCheckIn)->payload.bytes);
    EXPECT_EQ(check_in->root, (RootShare{root == &own ? 1u : 0u, 2}));
  }
  const Roster section = RosterOf(2, false, 2);
  own.Say(FrameType::kSection, section.bytes().bytes);
  EXPECT_EQ(first.Take(FrameType::kSection)->payload.bytes.size(), section.bytes().bytes.size());
  own.Say(ToFrame(FrameType::kReject, {Code::kTimeout, kNoOrigin, "timed out waiting for rank 3"}));
  EXPECT_EQ(first.TakeFailure(FrameType::kFailure).text, "timed out waiting for rank 3")
      << "so that the other root's ranks hear it";
}

}  // namespace
}  // namespace ringlet::bootstrap
