#include "bootstrap/member/root_calls.hpp"

#include "bootstrap/difference.hpp"
#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

// ---- the root ----------------------------------------------------------------------------------

TEST(Member, ChecksInWithRankSizeShapeAndAddress) {
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
  root.Transmit(ToFrame(Welcome{"roothost", 5, {}}));
  EXPECT_EQ(scene.member.Phase(), "checked in and waiting for the other ranks");
}

TEST(Member, RetriesARefusedDial) {
  Scene scene(Config(0, 2));
  for (int i = 0; i < 5; ++i) {
    scene.driver.Deliver(Closed{scene.driver.dials.back().line, "connection refused"});
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

TEST(Member, TimesOutIfTheRootNeverAnswers) {
  Scene scene(Config(1, 2));
  scene.driver.Deliver(Closed{scene.driver.dials.back().line, "connection refused"});
  scene.driver.Pass(seconds(10));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kTimeout);
  EXPECT_THAT(scene.Why(),
              AllOf(HasSubstr("rank 1 (host host0, pid 1001) timed out connecting to the root"),
                    HasSubstr("connection refused")));
  EXPECT_TRUE(scene.member.Finished());
  EXPECT_FALSE(scene.member.Deadline());
}

TEST(Member, ReportsARootThatDisappearedAsLost) {
  MemberConfig config = Config(1, 2);
  config.roots[0].was_there = true;
  config.timeout = seconds(300);
  Scene scene(config);
  const Instant begun = scene.driver.now;
  while (!scene.member.Finished() && scene.driver.now - begun < seconds(10)) {
    scene.driver.Deliver(Closed{scene.driver.dials.back().line, "connection refused"});
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

TEST(Member, AWrongSecretFailsAtOnceWithAReason) {
  Scene scene(Config(1, 2));
  Credentials other = kCredentials;
  other.secret[0] = std::byte{1};
  scene.Answer(Address::Ipv4(10, 255, 0, 1, 1), other);
  ASSERT_TRUE(scene.member.Finished());
  EXPECT_EQ(scene.member.failure()->code, Code::kProtocol);
  EXPECT_THAT(scene.Why(), AllOf(HasSubstr("the root cannot be reached by rank 1"),
                                 HasSubstr("the secrets differ")));
}

TEST(Member, TheRootOfAnotherCommunicatorFailsAtOnceWithAReason) {
  Scene scene(Config(1, 2));
  scene.Answer(Address::Ipv4(10, 255, 0, 1, 1), {78, {}});
  EXPECT_THAT(scene.Why(), HasSubstr("this unique id is stale"));
}

TEST(Member, ARejectionBecomesItsFailureUnchanged) {
  Scene scene(Config(1, 2));
  scene.CheckIn().Transmit(
      ToFrame(FrameType::kReject, {Code::kTimeout, kNoOrigin, "timed out waiting for rank 0"}));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kTimeout);
  EXPECT_EQ(scene.member.failure()->origin, kNoOrigin);
  EXPECT_EQ(scene.Why(), "timed out waiting for rank 0");
}

TEST(Member, NamesALostRoot) {
  Scene scene(Config(1, 2));
  scene.CheckIn().Close("connection reset by peer");
  EXPECT_EQ(scene.member.failure()->code, Code::kPeerLost);
  EXPECT_EQ(
      scene.Why(),
      "the process that runs the root (host roothost, pid 5) was lost while rank 1 was checked "
      "in and waiting for the other ranks: connection reset by peer");
}

TEST(Member, NamesTheRankThatRunsALostRoot) {
  Scene scene(Config(1, 2));
  scene.CheckIn(0).Close();
  EXPECT_EQ(scene.member.failure()->origin, 0u);
  EXPECT_THAT(scene.Why(),
              HasSubstr("rank 0 (host roothost, pid 5), which also runs the root, was lost"));
}

TEST(Member, BlamesTheRootForItsUnexpectedFrames) {
  Scene wrong(Config(1, 2));
  wrong.CheckIn().Transmit(FrameType::kGather);
  EXPECT_EQ(wrong.Why(), "the root sent an unexpected frame of type 10");
  Scene twisted(Config(1, 2));
  Writer payload;
  Encode(payload, Failure{Code::kTimeout, kNoOrigin, "a failure, where a welcome should be"});
  twisted.CheckIn().Transmit(FrameType::kWelcome, payload.view());
  EXPECT_THAT(twisted.Why(), HasSubstr("unexpected frame"));
  Scene cut_short(Config(1, 2));
  cut_short.CheckIn().Transmit(FrameType::kReject, AsView("?"));
  EXPECT_EQ(cut_short.Why(), "the root sent an unexpected frame of type 3");
  Scene early(Config(1, 2, Shape::kRing));
  early.CheckIn().Transmit(FrameType::kDone);
  EXPECT_EQ(early.Why(), "the root sent an unexpected frame of type 6") << "before all was ready";
  Scene roster(Config(0, 2));
  roster.CheckIn().Transmit(FrameType::kRoster, RosterOf(3).bytes().bytes);
  EXPECT_EQ(roster.Why(), "the roster has 3 ranks, not 2");
  Scene long_one(Config(1, 2));
  Writer out;
  out.U32(static_cast<std::uint32_t>(kMemberFrameBytesMax) + 1).U8(2);
  long_one.CheckIn().Transmit(out.Take());
  EXPECT_THAT(long_one.Why(), HasSubstr("the root sent a frame of 1073741825 bytes"));
}

TEST(Member, CallsARootAgainThatClosesBeforeItsWelcome) {
  Scene scene(Config(1, 2));
  for (int i = 0; i < 3; ++i) {
    scene.Answer(Address::Ipv4(10, 255, 0, 1, 1)).Close();
    ASSERT_FALSE(scene.member.Finished()) << "it had too many callers";
    if (scene.driver.dials.size() == scene.answered.size()) scene.driver.Pass(seconds(1));
  }
  scene.driver.Deliver(Closed{scene.driver.dials.back().line, "connection refused"});
  EXPECT_EQ(scene.member.failure()->code, Code::kPeerLost);
  EXPECT_THAT(scene.Why(), HasSubstr("the process that runs the root"));
}

// ---- several roots -----------------------------------------------------------------------------

TEST(Member, ARootDelegateForwardsItsSectionToTheFirstRoot) {
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
  own.Transmit(FrameType::kSection, section.bytes().bytes);
  EXPECT_EQ(first.Take(FrameType::kSection)->payload.bytes.size(), section.bytes().bytes.size());
  own.Transmit(
      ToFrame(FrameType::kReject, {Code::kTimeout, kNoOrigin, "timed out waiting for rank 3"}));
  EXPECT_EQ(first.TakeFailure(FrameType::kFailure).text, "timed out waiting for rank 3")
      << "so that the other root's ranks hear it";
}

// ---- with the ranks of the host ----------------------------------------------------------------

TEST(Member, ALocalRankChecksInWithItsNodeLeader) {
  Scene scene(OnHost(3, false));
  FarEnd& node_leader = scene.Answer(Address::Unix("node leader"));
  ASSERT_TRUE(node_leader.Take(FrameType::kCheckIn));
  EXPECT_EQ(scene.driver.dials.size(), 1u) << "no dial to the root";
  Writer two;
  node_leader.Transmit(FrameType::kNodeLeader, two.U32(2).view());
  node_leader.Transmit(ToFrame(Welcome{"roothost", 5, 0}));
  node_leader.Transmit(FrameType::kRoster, RosterOf(4, true).bytes().bytes);
  EXPECT_TRUE(node_leader.Take(FrameType::kReady));
  node_leader.Transmit(FrameType::kGo);
  EXPECT_TRUE(scene.member.standing());
  EXPECT_EQ(*scene.member.roster().At(Rank{1}), FakeRank(1));
}

TEST(Member, ALocalRankCallsTheRootIfItsNodeLeaderIsMissing) {
  Scene refused(OnHost(3, false));
  refused.driver.Deliver(Closed{refused.driver.dials.back().line, "connection refused"});
  for (int i = 0; i < 20 && refused.driver.dials.back().to != Address::Ipv4(10, 255, 0, 1, 1);
       ++i) {
    refused.driver.Pass(milliseconds(50));
    if (refused.driver.dials.back().to.kind == Address::Kind::kUnix)
      refused.driver.Deliver(Closed{refused.driver.dials.back().line, "connection refused"});
  }
  EXPECT_TRUE(refused.CheckIn().open());
  Scene vanished(OnHost(3, false));
  vanished.Answer(Address::Unix("node leader")).Close();
  EXPECT_TRUE(vanished.CheckIn().open());
}

TEST(Member, ANodeLeaderChecksItsHostInAndIsItsParent) {
  Scene scene(OnHost(2, true));
  FarEnd& root = scene.CheckIn();
  FarEnd& local_rank = scene.Call(Purpose::kCheckIn);
  local_rank.Transmit(ToFrame(CheckIn{3, 4, Shape::kTree, 2, 10'000, {}, FakeRank(3)}));
  EXPECT_EQ(Reader(local_rank.Take(FrameType::kNodeLeader)->payload.bytes).U32(), 2u);
  EXPECT_EQ(ParseWelcome(local_rank.Take(FrameType::kWelcome)->payload.bytes)->host, "roothost");
  const auto passed = ParseLocalRank(root.Take(FrameType::kLocalRank)->payload.bytes);
  ASSERT_TRUE(passed.ok());
  EXPECT_EQ(passed->check_in.rank, 3u);
  EXPECT_EQ(*ApplyDifference(RecordOf(FakeRank(2)), passed->difference, 1000),
            RecordOf(FakeRank(3)));

  FarEnd& parent = scene.Call(Purpose::kTree);
  parent.Transmit(bootstrap::Call(0, {1, 1}));
  parent.Transmit(FrameType::kRoster, RosterOf(4, true).bytes().bytes);
  EXPECT_TRUE(local_rank.Take(FrameType::kRoster));
  EXPECT_FALSE(parent.Take(FrameType::kReady));
  local_rank.Transmit(FrameType::kReady);
  EXPECT_TRUE(parent.Take(FrameType::kReady));
  parent.Transmit(FrameType::kGo);
  EXPECT_TRUE(local_rank.Take(FrameType::kGo));
  ASSERT_TRUE(scene.member.standing());
  FarEnd& late = scene.Call(Purpose::kCheckIn);
  late.Transmit(ToFrame(CheckIn{1, 4, Shape::kTree, 2, 10'000, {}, FakeRank(1)}));
  EXPECT_THAT(late.TakeFailure(FrameType::kReject).text, HasSubstr("make a new one"));
  EXPECT_TRUE(scene.member.standing());
}

TEST(Member, ALocalRankLostBeforeTheRosterFailsAllAtOnce) {
  Scene scene(OnHost(2, true));
  FarEnd& root = scene.CheckIn();
  FarEnd& local_rank = scene.Call(Purpose::kCheckIn);
  local_rank.Transmit(ToFrame(CheckIn{3, 4, Shape::kTree, 2, 10'000, {}, FakeRank(3)}));
  local_rank.Close("connection reset by peer");
  ASSERT_TRUE(scene.member.failure()) << "nobody else can know";
  EXPECT_EQ(scene.member.failure()->code, Code::kPeerLost);
  EXPECT_EQ(scene.member.failure()->origin, 3u);
  EXPECT_THAT(scene.Why(),
              HasSubstr("rank 3 (host host1, pid 1003) was lost: connection reset by peer"));
  EXPECT_EQ(root.TakeFailure(FrameType::kFailure).text, scene.Why());
}

// ---- the class alone -------------------------------------------------------------------------

TEST(RootCalls, TheFirstRankOfARootsShareCallsAlsoTheFirstRoot) {
  MemberConfig config = Config(2, 4);
  config.roots.push_back({kCredentials, {Address::Ipv4(10, 255, 1, 1, 1)}});
  Parts delegate(config);
  RootCalls calls(delegate.common);
  calls.CallFor(2);
  calls.CallFor(2);
  EXPECT_EQ(delegate.dials(), 2u) << "each root once";
  EXPECT_TRUE(calls.IsDelegateOf(1));
  EXPECT_FALSE(calls.IsDelegateOf(0));
  config.rank = Rank{3};
  Parts other(config);
  RootCalls(other.common).CallFor(3);
  EXPECT_EQ(other.dials(), 1u);
}

TEST(RootCalls, ReportARootAsLostIfItWasReachedOnce) {
  Parts parts(Config(1, 2));
  RootCalls calls(parts.common);
  calls.CallFor(1);
  EXPECT_FALSE(calls.IsGone(*parts.common.connections.CallToRoot(0)));
  calls.OnOpened(parts.Open(), 0);
  calls.CallAgain(0);
  EXPECT_TRUE(calls.IsGone(*parts.common.connections.CallToRoot(0)));
}

}  // namespace
}  // namespace ringlet::bootstrap
