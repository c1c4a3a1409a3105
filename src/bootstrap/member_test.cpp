#include "bootstrap/member.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <list>

#include "bootstrap/hand_for_test.hpp"
#include "bootstrap/root.hpp"

namespace ringlet::bootstrap {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

const Credentials kCredentials{77, {}};

Introduction Person(std::uint32_t rank) {
  Introduction person;
  person.addresses = {Address::Ipv4(10, 0, 0, static_cast<std::uint8_t>(rank), 99)};
  person.host = "host" + std::to_string(rank / 2);
  person.pid = 1000 + rank;
  return person;
}

MemberConfig Config(std::uint32_t rank, std::uint32_t size, Shape shape = Shape::kTree) {
  MemberConfig config;
  config.credentials = kCredentials;
  config.rank = Rank{rank};
  config.size = size;
  config.roots = {Address::Ipv4(10, 255, 0, 1, 1)};
  config.introduction = Person(rank);
  config.shape = shape;
  config.arity = 2;
  config.timeout = seconds(10);
  config.half_open_max = 3;
  config.strangers_noted_max = 4;
  config.mailbox = {.messages_max = 2, .bytes_max = 1000};
  return config;
}

Roster RosterOf(std::uint32_t size) {
  std::vector<Bytes> records;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    Writer out;
    Encode(out, Person(rank));
    records.push_back(out.Take());
  }
  return Roster::Build(records);
}

Bytes Identify(std::uint32_t rank) {
  Writer out = BeginFrame(static_cast<std::uint8_t>(FrameType::kIdentify));
  out.U32(rank);
  return EndFrame(std::move(out));
}

// One member, and its surroundings played by the test.
class Scene {
 public:
  explicit Scene(MemberConfig config) : member(std::move(config)), hand(member) {
    hand.Tell(Tick{});
  }

  /// Answers the dial to `to`, which must be under way, with the right secret or another one.
  FarEnd& Answer(const Address& to, const Credentials& credentials = kCredentials) {
    const auto dial = std::ranges::find_if(
        hand.dials, [&](const Dial& one) { return one.to == to && !answered.contains(one.line); });
    if (dial == hand.dials.end()) ADD_FAILURE() << "no dial to " << ToString(to);
    answered.insert(dial->line);
    return far_ends.emplace_back(hand, *dial, credentials);
  }
  FarEnd& Call(Purpose purpose, const Credentials& credentials = kCredentials) {
    Nonce nonce{};
    nonce[0] = static_cast<std::byte>(next_line);
    return far_ends.emplace_back(hand, next_line++, credentials, purpose, nonce);
  }
  FarEnd& CallAs(std::uint32_t rank, Purpose purpose) {
    FarEnd& far = Call(purpose);
    far.Say(Identify(rank));
    return far;
  }
  /// Plays the root until the member has checked in and is welcomed.
  FarEnd& CheckIn(std::optional<std::uint32_t> hosted_rank = std::nullopt) {
    FarEnd& root = Answer(Address::Ipv4(10, 255, 0, 1, 1));
    EXPECT_TRUE(root.Take(FrameType::kCheckIn));
    root.Say(ToFrame(Welcome{"roothost", 5, hosted_rank}));
    return root;
  }
  std::string Why() const { return member.failure() ? member.failure()->text : "(no failure)"; }

  Member member;
  Hand hand;
  std::set<LineId> answered;
  LineId next_line = kFirstAcceptedLine;
  std::list<FarEnd> far_ends;
};

Bytes GatherPayload(std::uint32_t sequence, const std::vector<std::string_view>& entries) {
  Writer out;
  Encode(out, GatherHeader{sequence, false});
  for (const std::string_view entry : entries) out.Text(entry);
  return out.Take();
}

// Rank 1 of 4 in a binary tree: 0 above, 2 below, 3 elsewhere.
struct Middle : Scene {
  explicit Middle(bool standing = true) : Scene(Config(1, 4)) {
    root = &CheckIn(0);
    parent = &CallAs(0, Purpose::kTree);
    parent->Say(FrameType::kRoster, RosterOf(4).bytes().bytes);
    child = &Answer(Person(2).addresses[0]);
    child->Take(FrameType::kRoster);
    child->Say(FrameType::kReady);
    parent->Take(FrameType::kReady);
    if (standing) parent->Say(FrameType::kGo);
  }
  FarEnd* root;
  FarEnd* parent;
  FarEnd* child;
};

// ---- the root ---------------------------------------------------------------------------------

TEST(Member, ChecksInWithWhatItIs) {
  Scene scene(Config(3, 8));
  scene.hand.Pass(seconds(2));
  FarEnd& root = scene.Answer(Address::Ipv4(10, 255, 0, 1, 1));
  const auto frame = root.Take(FrameType::kCheckIn);
  ASSERT_TRUE(frame);
  const auto check_in = ParseCheckIn(frame->payload.bytes);
  ASSERT_TRUE(check_in.ok());
  EXPECT_EQ(check_in->rank, 3u);
  EXPECT_EQ(check_in->size, 8u);
  EXPECT_EQ(check_in->shape, Shape::kTree);
  EXPECT_EQ(check_in->arity, 2);
  EXPECT_EQ(check_in->timeout_ms, 8000u) << "what is left of its patience";
  EXPECT_EQ(check_in->introduction, Person(3));
  EXPECT_EQ(scene.member.Phase(), "checked in and waiting for the other ranks");
}

TEST(Member, ARefusedDialIsTriedAgain) {
  Scene scene(Config(0, 2));
  for (int i = 0; i < 5; ++i) {
    scene.hand.Tell(Closed{scene.hand.dials.back().line, "connection refused"});
    EXPECT_FALSE(scene.member.Finished());
    scene.hand.Pass(*scene.member.Deadline() - scene.hand.now);
    ASSERT_EQ(scene.hand.dials.size(), static_cast<std::size_t>(i) + 2);
  }
  EXPECT_THAT(scene.member.Phase(),
              HasSubstr("connecting to the root (10.255.0.1:1: connection refused)"));
  const Dial last = scene.hand.dials.back();
  FarEnd root(scene.hand, last, kCredentials);
  EXPECT_TRUE(root.Take(FrameType::kCheckIn));
}

TEST(Member, ARootThatNeverAnswersIsATimeout) {
  Scene scene(Config(1, 2));
  scene.hand.Tell(Closed{scene.hand.dials.back().line, "connection refused"});
  scene.hand.Pass(seconds(10));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kTimeout);
  EXPECT_THAT(scene.Why(),
              AllOf(HasSubstr("rank 1 (host host0, pid 1001) timed out connecting to the root"),
                    HasSubstr("connection refused")));
  EXPECT_TRUE(scene.member.Finished());
  EXPECT_FALSE(scene.member.Deadline());
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
      "the process that runs the root (host roothost, pid 5) was lost while this rank was checked "
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
  EXPECT_TRUE(scene.hand.notes.empty());
}

TEST(Member, TheTopOfATreeReportsToTheRoot) {
  Scene scene(Config(0, 2));
  FarEnd& root = scene.CheckIn();
  root.Say(FrameType::kRoster, RosterOf(2).bytes().bytes);
  EXPECT_EQ(scene.member.Phase(), "connecting to the ranks below: rank 1 (host host0, pid 1001)");
  FarEnd& child = scene.Answer(Person(1).addresses[0]);
  const auto identify = child.Take(FrameType::kIdentify);
  ASSERT_TRUE(identify);
  EXPECT_EQ(Reader(identify->payload.bytes).U32(), 0u);
  EXPECT_FALSE(root.Take(FrameType::kReady));
  child.Say(FrameType::kReady);
  EXPECT_TRUE(root.Take(FrameType::kReady));
  EXPECT_TRUE(scene.member.standing());
}

TEST(Member, AloneItStandsAtOnce) {
  for (const Shape shape : {Shape::kTree, Shape::kRing}) {
    Scene scene(Config(0, 1, shape));
    FarEnd& root = scene.CheckIn();
    if (shape == Shape::kTree) {
      root.Say(FrameType::kRoster, RosterOf(1).bytes().bytes);
    } else {
      Writer out;
      Encode(out, Person(0));
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
  scene.hand.Tell(Closed{scene.hand.dials.back().line, "no route to host"});
  scene.hand.Pass(seconds(10) - 2 * LadderStep(seconds(10)));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kTimeout);
  EXPECT_EQ(scene.member.failure()->origin, 1u);
  EXPECT_EQ(scene.Why(),
            "rank 1 (host host0, pid 1001) cannot be reached by rank 0 (host host0, pid 1000): "
            "10.0.0.1:99: no route to host");
  EXPECT_EQ(root.TakeFailure(FrameType::kFailure).text, scene.Why());
}

TEST(Member, AnAllGatherGoesUpAndComesDown) {
  Middle scene;
  scene.member.Gather(false, Bytes(1, std::byte{'1'}));
  scene.hand.Drain();
  EXPECT_EQ(scene.member.Phase(), "in collective 1 of the control network, waiting for rank 2");
  EXPECT_FALSE(scene.parent->Take(FrameType::kGather));
  scene.child->Say(FrameType::kGather, GatherPayload(1, {"2"}));
  const auto up = scene.parent->Take(FrameType::kGather);
  ASSERT_TRUE(up);
  EXPECT_EQ(Bytes(up->payload.bytes.begin(), up->payload.bytes.end()),
            GatherPayload(1, {"1", "2"}));
  scene.parent->Say(FrameType::kTable, GatherPayload(1, {"0", "1", "2", "3"}));
  EXPECT_TRUE(scene.child->Take(FrameType::kTable));
  const auto table = scene.member.TakeTable();
  ASSERT_TRUE(table);
  EXPECT_EQ(AsText(table->At(Rank{3})), "3");
  EXPECT_FALSE(scene.member.TakeTable()) << "once";
  EXPECT_EQ(scene.member.Phase(), "in normal operation");
}

TEST(Member, AFrameThatDoesNotFitFailsAllAndNamesItsSender) {
  Middle parent;
  parent.parent->Say(FrameType::kTable, GatherPayload(1, {}));
  EXPECT_THAT(parent.Why(), HasSubstr("rank 0 (host host0, pid 1000) does not fit"));
  EXPECT_EQ(parent.member.failure()->origin, 0u);
  EXPECT_EQ(parent.child->TakeFailure(FrameType::kFailure).text, parent.Why());
  Middle child;
  child.child->Say(FrameType::kReady);
  EXPECT_THAT(child.Why(),
              HasSubstr("rank 2 (host host1, pid 1002) sent a frame of type 5 that does not fit"));
  Middle roster;
  roster.parent->Say(FrameType::kRoster, RosterOf(4).bytes().bytes);
  EXPECT_THAT(roster.Why(), HasSubstr("sent a frame of type 8 that does not fit"));
  Middle early(false);
  early.child->Say(FrameType::kGather, GatherPayload(1, {"2"}));
  EXPECT_THAT(early.Why(), HasSubstr("rank 2"));
  Middle long_one;
  Writer out;
  out.U32(static_cast<std::uint32_t>(kMemberFrameBytesMax) + 1).U8(10);
  long_one.child->Say(out.Take());
  EXPECT_THAT(long_one.Why(),
              HasSubstr("rank 2 (host host1, pid 1002) sent a frame of 1073741825 bytes"));
  Middle kind;
  kind.child->Say(FrameType::kGather, GatherPayload(1, {"2"}));
  kind.member.Gather(true, {});
  EXPECT_THAT(
      kind.Why(),
      HasSubstr("rank 2 is in all-gather 1 of the control network, this rank in barrier 1"));
}

// ---- ring -------------------------------------------------------------------------------------

struct InRing : Scene {
  InRing() : Scene(Config(1, 3, Shape::kRing)) {
    root = &CheckIn();
    Writer out;
    Encode(out, Person(2));
    neighbour = out.Take();
    root->Say(FrameType::kNeighbour, neighbour);
  }
  Bytes BlockOf(std::uint32_t sequence, std::uint32_t origin) {
    Writer out;
    Encode(out, GatherHeader{sequence, false});
    out.U32(origin);
    Encode(out, Person(origin));
    return out.Take();
  }
  void Stand() {
    next = &Answer(Person(2).addresses[0]);
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
    EXPECT_EQ(*scene.member.roster().At(Rank{rank}), Person(rank));
  EXPECT_TRUE(scene.next->Take(FrameType::kIdentify));
  for (const std::uint32_t origin : {1u, 0u}) {
    const auto block = scene.next->Take();
    ASSERT_TRUE(block);
    Reader in(block->payload.bytes);
    DecodeGatherHeader(in);
    EXPECT_EQ(in.U32(), origin);
  }
  EXPECT_FALSE(scene.next->Take()) << "the next rank has its own";
}

TEST(Member, ASecondNeighbourIsTheRootsFault) {
  InRing scene;
  scene.root->Say(FrameType::kNeighbour, scene.neighbour);
  EXPECT_EQ(scene.Why(), "the root sent a frame of type 4 that does not fit");
}

TEST(Member, InARingOnlyBlocksComeFromBehind) {
  InRing scene;
  scene.Stand();
  scene.previous->Say(FrameType::kGather, GatherPayload(1, {}));
  EXPECT_THAT(scene.Why(), HasSubstr("rank 0 (host host0, pid 1000) sent a frame of type 10"));
}

// ---- callers ----------------------------------------------------------------------------------

TEST(Member, StrangersCostALineOfTheLogEachAndDelayNobody) {
  Middle scene;
  Credentials other = kCredentials;
  other.magic = 1;
  EXPECT_FALSE(scene.Call(Purpose::kTree, other).open());
  FarEnd& garbage = scene.Call(Purpose::kTree);
  garbage.Say(FrameType::kGather);
  EXPECT_TRUE(garbage.hung_up());
  FarEnd& nobody = scene.CallAs(99, Purpose::kTree);
  EXPECT_TRUE(nobody.hung_up());
  EXPECT_EQ(scene.hand.notes.size(), 3u);
  EXPECT_THAT(scene.hand.notes[0], HasSubstr("rank 1: turned away a caller from 192.0.2.1"));
  EXPECT_THAT(scene.hand.notes[1], HasSubstr("does not say who it is"));
  EXPECT_TRUE(scene.member.standing());
}

TEST(Member, AMemberThatCallsWhereItHasNoPlaceIsTurnedAway) {
  Middle scene;
  EXPECT_TRUE(scene.CallAs(0, Purpose::kTree).hung_up()) << "the parent, a second time";
  EXPECT_TRUE(scene.CallAs(2, Purpose::kTree).hung_up()) << "a child";
  EXPECT_TRUE(scene.CallAs(0, Purpose::kRing).hung_up()) << "there is no ring";
  EXPECT_THAT(scene.hand.notes.at(1), HasSubstr("rank 2 calls where it has no place"));
  EXPECT_FALSE(scene.parent->hung_up());
  Scene early(Config(1, 4));
  EXPECT_TRUE(early.CallAs(0, Purpose::kTree).hung_up()) << "nobody can know us before we check in";
}

TEST(Member, SilentCallersAreBoundedAndDroppedInTime) {
  Middle scene;
  std::set<LineId> lines;
  for (int i = 0; i < 5; ++i) {
    lines.insert(scene.next_line);
    scene.hand.Tell(Accepted{scene.next_line++, {}});
  }
  EXPECT_EQ(scene.hand.hung_up, (std::set<LineId>{*lines.begin(), *std::next(lines.begin())}));
  EXPECT_EQ(*scene.member.Deadline(), scene.hand.now + seconds(10));
  scene.hand.Pass(seconds(10));
  EXPECT_EQ(scene.hand.hung_up, lines);
  EXPECT_EQ(scene.hand.notes.size(), 4u) << "the bound on notes";
  EXPECT_TRUE(scene.member.standing());
  EXPECT_FALSE(scene.member.Deadline());
}

// ---- messages ---------------------------------------------------------------------------------

Bytes Message(std::uint64_t tag, std::string_view text) {
  Writer out;
  out.U64(tag).Raw(AsView(text));
  return out.Take();
}

TEST(Member, PostsOverALineThatItMakesOnce) {
  Middle scene;
  scene.member.Post(Rank{3}, 5, Bytes(1, std::byte{'a'}), scene.hand.now);
  scene.member.Post(Rank{3}, 5, Bytes(1, std::byte{'b'}), scene.hand.now);
  scene.hand.Drain();
  FarEnd& three = scene.Answer(Person(3).addresses[0]);
  scene.member.Post(Rank{3}, 6, Bytes(1, std::byte{'c'}), scene.hand.now);
  scene.hand.Drain();
  EXPECT_TRUE(three.Take(FrameType::kIdentify));
  for (const auto& [tag, text] : {std::pair(5, "a"), std::pair(5, "b"), std::pair(6, "c")}) {
    const auto frame = three.Take(FrameType::kMessage);
    ASSERT_TRUE(frame);
    EXPECT_EQ(Bytes(frame->payload.bytes.begin(), frame->payload.bytes.end()),
              Message(static_cast<std::uint64_t>(tag), text));
  }
}

TEST(Member, KeepsMessagesBySenderAndTag) {
  Middle scene;
  FarEnd& three = scene.CallAs(3, Purpose::kPeer);
  three.Say(FrameType::kMessage, Message(5, "first"));
  three.Say(FrameType::kMessage, Message(5, "second"));
  EXPECT_FALSE(scene.member.TakeMessage(Rank{3}, 6));
  EXPECT_FALSE(scene.member.TakeMessage(Rank{2}, 5));
  EXPECT_EQ(AsText(*scene.member.TakeMessage(Rank{3}, 5)), "first");
  EXPECT_EQ(AsText(*scene.member.TakeMessage(Rank{3}, 5)), "second");
  scene.member.Post(Rank{1}, 9, Bytes(2, std::byte{'m'}), scene.hand.now);
  EXPECT_EQ(AsText(*scene.member.TakeMessage(Rank{1}, 9)), "mm") << "to itself";
}

TEST(Member, AMessageThatComesBeforeTheGoIsKept) {
  Middle scene(false);
  FarEnd& three = scene.CallAs(3, Purpose::kPeer);
  three.Say(FrameType::kMessage, Message(5, "I stand already"));
  EXPECT_FALSE(three.hung_up());
  scene.parent->Say(FrameType::kGo);
  ASSERT_TRUE(scene.member.standing());
  EXPECT_EQ(AsText(*scene.member.TakeMessage(Rank{3}, 5)), "I stand already");
}

TEST(Member, AsksAnotherWhatItIsDoing) {
  Middle scene;
  scene.member.Ask(Rank{3}, scene.hand.now);
  scene.hand.Drain();
  EXPECT_FALSE(scene.member.TakeAnswer(Rank{3}));
  EXPECT_TRUE(scene.Answer(Person(3).addresses[0]).Take(FrameType::kAsk));
  FarEnd& back = scene.CallAs(3, Purpose::kPeer);
  back.Say(ToFrame(Activity{7, 2u}));
  EXPECT_EQ(scene.member.TakeAnswer(Rank{3}), (Activity{7, 2u}));
  EXPECT_FALSE(scene.member.TakeAnswer(Rank{3})) << "once";
  back.Say(ToFrame(Activity{8, 2u}));
  EXPECT_THAT(scene.Why(), HasSubstr("rank 3 (host host1, pid 1003) sent a frame of type 17"))
      << "nobody asked";
}

TEST(Member, AnswersWhatItIsDoing) {
  MemberConfig config = Config(0, 2);
  config.activity = [] { return Activity{5, 1u}; };
  Scene scene(config);
  FarEnd& root = scene.CheckIn();
  root.Say(FrameType::kRoster, RosterOf(2).bytes().bytes);
  scene.Answer(Person(1).addresses[0]).Say(FrameType::kReady);
  ASSERT_TRUE(scene.member.standing());
  scene.CallAs(1, Purpose::kPeer).Say(FrameType::kAsk);
  const auto answer = scene.Answer(Person(1).addresses[0]).Take(FrameType::kAnswer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(*ParseActivity(answer->payload.bytes), (Activity{5, 1u}));
}

TEST(Member, AFullMailboxFailsInsteadOfDropping) {
  Middle scene;
  FarEnd& three = scene.CallAs(3, Purpose::kPeer);
  for (int i = 0; i < 3; ++i) three.Say(FrameType::kMessage, Message(5, "x"));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kProtocol);
  EXPECT_THAT(scene.Why(), HasSubstr("rank 3 sends one more with tag 5"));
}

TEST(Member, AMessageWithoutATagFailsAndNamesItsSender) {
  Middle scene;
  scene.CallAs(3, Purpose::kPeer).Say(FrameType::kMessage, AsView("1234567"));
  EXPECT_THAT(scene.Why(), HasSubstr("rank 3 (host host1, pid 1003) sent a frame of type 13"));
}

// ---- endings ----------------------------------------------------------------------------------

TEST(Member, AFailureIsPassedOnUnchangedOverAllLines) {
  Middle scene;
  FarEnd& three = scene.CallAs(3, Purpose::kPeer);
  const Failure failure{Code::kPeerLost, 3, "rank 3 was lost"};
  scene.parent->Say(ToFrame(FrameType::kFailure, failure));
  EXPECT_TRUE(scene.member.Finished());
  for (FarEnd* far : {scene.child, &three}) {
    const Failure heard = far->TakeFailure(FrameType::kFailure);
    EXPECT_EQ(heard.code, failure.code);
    EXPECT_EQ(heard.origin, failure.origin);
    EXPECT_EQ(heard.text, failure.text);
    EXPECT_TRUE(far->hung_up());
  }
}

TEST(Member, APeerThatIsLostIsNamedAtOnceWhenStanding) {
  Middle scene;
  scene.child->Close("connection reset by peer");
  EXPECT_EQ(scene.member.failure()->code, Code::kPeerLost);
  EXPECT_EQ(scene.member.failure()->origin, 2u);
  EXPECT_THAT(scene.Why(),
              HasSubstr("rank 2 (host host1, pid 1002) was lost: connection reset by peer"));
  EXPECT_EQ(scene.parent->TakeFailure(FrameType::kFailure).text, scene.Why());
}

TEST(Member, WhileJoiningTheRootsStoryCountsMoreThanASuspicion) {
  Middle scene(false);
  scene.child->Close();
  EXPECT_FALSE(scene.member.Finished());
  scene.root->Say(ToFrame(FrameType::kReject, {Code::kPeerLost, 3, "rank 3 was lost"}));
  EXPECT_EQ(scene.Why(), "rank 3 was lost");
  Middle silent(false);
  silent.child->Close();
  silent.hand.Pass(*silent.member.Deadline() - silent.hand.now);
  EXPECT_EQ(silent.member.failure()->origin, 2u);
}

TEST(Member, AbortTellsEverybodyWithItselfAsTheOrigin) {
  Middle scene;
  scene.member.Abort(Code::kAborted, "rank 1 was told to abort");
  scene.hand.Drain();
  EXPECT_EQ(scene.member.failure()->origin, 1u);
  for (FarEnd* far : {scene.parent, scene.child})
    EXPECT_EQ(far->TakeFailure(FrameType::kFailure).text, "rank 1 was told to abort");
  scene.member.Abort(Code::kTimeout, "again");
  EXPECT_EQ(scene.Why(), "rank 1 was told to abort") << "the first reason stays";
}

TEST(Member, LeavesInGoodOrder) {
  Middle scene;
  scene.member.Leave();
  scene.hand.Drain();
  EXPECT_TRUE(scene.member.Finished());
  EXPECT_FALSE(scene.member.failure());
  EXPECT_TRUE(scene.parent->Take(FrameType::kLeave));
  EXPECT_TRUE(scene.child->Take(FrameType::kLeave));
  EXPECT_FALSE(scene.root->Take(FrameType::kLeave));
}

TEST(Member, WhoLeavesWhileJoiningFailsTheOthers) {
  Scene scene(Config(1, 4));
  FarEnd& root = scene.CheckIn();
  scene.member.Leave();
  scene.hand.Drain();
  EXPECT_EQ(scene.member.failure()->code, Code::kAborted);
  EXPECT_THAT(root.TakeFailure(FrameType::kFailure).text,
              HasSubstr("rank 1 (host host0, pid 1001) gave up checked in"));
}

TEST(Member, WhoHasLeftIsNotMissedUntilItIsNeeded) {
  for (const bool closes : {false, true}) {
    Middle scene;
    scene.child->Say(FrameType::kLeave);
    if (closes) scene.child->Close();
    EXPECT_TRUE(scene.member.standing());
    scene.member.Gather(true, {});
    scene.hand.Drain();
    ASSERT_TRUE(scene.member.failure()) << (closes ? "after" : "before") << " its line has closed";
    EXPECT_EQ(scene.member.failure()->code, Code::kPeerLost);
    EXPECT_EQ(scene.member.failure()->origin, 2u);
    EXPECT_THAT(scene.Why(), HasSubstr("rank 2 (host host1, pid 1002) has left"));
  }
}

TEST(Member, AfterTheEndNothingMovesIt) {
  Middle scene;
  scene.member.Leave();
  scene.hand.Drain();
  scene.hand.sent.clear();
  scene.hand.Pass(seconds(100));
  scene.hand.Tell(Accepted{scene.next_line, {}});
  scene.member.Gather(false, {});
  scene.member.Post(Rank{3}, 1, {}, scene.hand.now);
  scene.hand.Drain();
  EXPECT_TRUE(scene.hand.sent.empty());
  EXPECT_FALSE(scene.member.failure());
}

}  // namespace
}  // namespace ringlet::bootstrap
