#include "bootstrap/member/standing.hpp"

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

// ---- in the world ------------------------------------------------------------------------------

TEST(Member, AnAllGatherPassesUpAndDownTheTree) {
  Middle scene;
  scene.member.Gather(false, Bytes(1, std::byte{'1'}));
  scene.driver.Drain();
  EXPECT_EQ(scene.member.Phase(),
            "in collective 1 of the control network, waiting for rank 2 or the ranks below it");
  EXPECT_FALSE(scene.parent->Take(FrameType::kGather));
  scene.child->Transmit(FrameType::kGather, OfGroup(GatherPayload(1, {{2, "2"}})));
  const auto up = scene.parent->Take(FrameType::kGather);
  ASSERT_TRUE(up);
  EXPECT_EQ(Bytes(up->payload.bytes.begin(), up->payload.bytes.end()),
            OfGroup(GatherPayload(1, {{1, "1"}, {2, "2"}})));
  scene.parent->Transmit(FrameType::kTable, OfGroup(TablePayload(1, {"0", "1", "2", "3"})));
  EXPECT_TRUE(scene.child->Take(FrameType::kTable));
  const auto table = scene.member.TakeTable();
  ASSERT_TRUE(table);
  EXPECT_EQ(AsText(table->At(Rank{3})), "3");
  EXPECT_FALSE(scene.member.TakeTable()) << "once";
  EXPECT_EQ(scene.member.Phase(), "in normal operation");
}

Bytes Message(std::uint64_t tag, std::string_view text) {
  Writer out;
  return out.U64(kWorld).U64(tag).Raw(AsView(text)).Take();
}

TEST(Member, PostsOverASingleNewConnection) {
  Middle scene;
  scene.member.Post(Rank{3}, 5, Bytes(1, std::byte{'a'}), scene.driver.now);
  scene.member.Post(Rank{3}, 5, Bytes(1, std::byte{'b'}), scene.driver.now);
  scene.driver.Drain();
  FarEnd& three = scene.Answer(FakeRank(3).addresses[0]);
  scene.member.Post(Rank{3}, 6, Bytes(1, std::byte{'c'}), scene.driver.now);
  scene.driver.Drain();
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
  three.Transmit(FrameType::kMessage, Message(5, "first"));
  three.Transmit(FrameType::kMessage, Message(5, "second"));
  EXPECT_FALSE(scene.member.TakeMessage(Rank{3}, 6));
  EXPECT_FALSE(scene.member.TakeMessage(Rank{2}, 5));
  EXPECT_EQ(AsText(*scene.member.TakeMessage(Rank{3}, 5)), "first");
  EXPECT_EQ(AsText(*scene.member.TakeMessage(Rank{3}, 5)), "second");
  scene.member.Post(Rank{1}, 9, Bytes(2, std::byte{'m'}), scene.driver.now);
  EXPECT_EQ(AsText(*scene.member.TakeMessage(Rank{1}, 9)), "mm") << "to itself";
}

TEST(Member, KeepsAMessageReceivedBeforeItStands) {
  Middle scene(false);
  FarEnd& three = scene.CallAs(3, Purpose::kPeer);
  three.Transmit(FrameType::kMessage, Message(5, "I stand already"));
  EXPECT_FALSE(three.hung_up());
  scene.parent->Transmit(FrameType::kGo);
  ASSERT_TRUE(scene.member.standing());
  EXPECT_EQ(AsText(*scene.member.TakeMessage(Rank{3}, 5)), "I stand already");
}

TEST(Member, AFullMailboxFailsAndDropsNoMessage) {
  Middle scene;
  FarEnd& three = scene.CallAs(3, Purpose::kPeer);
  for (int i = 0; i < 3; ++i) three.Transmit(FrameType::kMessage, Message(5, "x"));
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->code, Code::kProtocol);
  EXPECT_THAT(scene.Why(), HasSubstr("rank 3 sends one more with tag 5"));
}

TEST(Member, AMessageWithoutATagFailsAndNamesItsSender) {
  Middle scene;
  scene.CallAs(3, Purpose::kPeer).Transmit(FrameType::kMessage, OfGroup(AsView("1234567")));
  EXPECT_THAT(scene.Why(),
              HasSubstr("rank 3 (host host1, pid 1003) sent an unexpected frame of type 13"));
}

Bytes Answer(const Activity& activity) {
  Writer out;
  Encode(out.U64(kWorld), activity);
  return out.Take();
}

TEST(Member, QueriesTheActivityOfAnotherRank) {
  Middle scene;
  scene.member.Ask(Rank{3}, scene.driver.now);
  scene.driver.Drain();
  EXPECT_FALSE(scene.member.TakeAnswer(Rank{3}));
  EXPECT_TRUE(scene.Answer(FakeRank(3).addresses[0]).Take(FrameType::kAsk));
  FarEnd& back = scene.CallAs(3, Purpose::kPeer);
  back.Transmit(FrameType::kAnswer, Answer({7, 2u}));
  EXPECT_EQ(scene.member.TakeAnswer(Rank{3}), (Activity{7, 2u}));
  EXPECT_FALSE(scene.member.TakeAnswer(Rank{3})) << "once";
  back.Transmit(FrameType::kAnswer, Answer({8, 2u}));
  EXPECT_FALSE(scene.member.failure()) << "an answer after the asker has gone on: " << scene.Why();
  EXPECT_FALSE(scene.member.TakeAnswer(Rank{3}));
}

TEST(Member, AnswersAQueryWithItsActivity) {
  MemberConfig config = Config(0, 2);
  config.activity = [](GroupId) { return Activity{5, 1u}; };
  Scene scene(config);
  FarEnd& root = scene.CheckIn();
  root.Transmit(FrameType::kRoster, RosterOf(2).bytes().bytes);
  FarEnd& child = scene.Answer(FakeRank(1).addresses[0]);
  child.Transmit(FrameType::kReady);
  ASSERT_TRUE(scene.member.standing());
  scene.CallAs(1, Purpose::kPeer).Transmit(FrameType::kAsk, OfGroup({}));
  const auto answer = child.Take(FrameType::kAnswer);
  ASSERT_TRUE(answer);
  EXPECT_EQ(*ParseActivity(answer->payload.bytes.subspan(8)), (Activity{5, 1u}));
}

TEST(Member, AbortSendsAFailureWithItselfAsOriginToAllRanks) {
  Middle scene;
  scene.member.Abort(Code::kAborted, "rank 1 was told to abort");
  scene.driver.Drain();
  EXPECT_EQ(scene.member.failure()->origin, 1u);
  for (FarEnd* far : {scene.parent, scene.child})
    EXPECT_EQ(far->TakeFailure(FrameType::kFailure).text, "rank 1 was told to abort");
  scene.member.Abort(Code::kTimeout, "again");
  EXPECT_EQ(scene.Why(), "rank 1 was told to abort") << "the first reason stays";
}

TEST(Member, ADepartedRankFailsOnlyCollectivesThatNeedIt) {
  for (const bool closes : {false, true}) {
    Middle scene;
    scene.child->Transmit(FrameType::kLeave, OfGroup({}));
    if (closes) scene.child->Close();
    EXPECT_TRUE(scene.member.standing());
    scene.member.Gather(true, {});
    scene.driver.Drain();
    ASSERT_TRUE(scene.member.failure()) << (closes ? "after" : "before") << " its line has closed";
    EXPECT_EQ(scene.member.failure()->code, Code::kPeerLost);
    EXPECT_EQ(scene.member.failure()->origin, 2u);
    EXPECT_THAT(scene.Why(), HasSubstr("rank 2 (host host1, pid 1002) has left"));
  }
}

// ---- ranks that do not answer ------------------------------------------------------------------

TEST(Member, ARankWithoutAListenerIsAbsentRatherThanLost) {
  Middle scene;
  scene.member.Ask(Rank{3}, scene.driver.now);
  scene.driver.Drain();
  EXPECT_EQ(scene.member.AbsenceOf(Rank{3}), Member::RankAbsence::kUnknown);
  std::size_t refused = 0;
  for (int i = 0; i < 12; ++i) {
    for (; refused < scene.driver.dials.size(); ++refused)
      if (scene.driver.dials[refused].to == FakeRank(3).addresses[0])
        scene.driver.Deliver(Closed{scene.driver.dials[refused].line, "Connection refused"});
    scene.driver.Pass(seconds(1));
  }
  EXPECT_EQ(scene.member.AbsenceOf(Rank{3}), Member::RankAbsence::kAbsent);
  EXPECT_FALSE(scene.member.failure()) << scene.Why();
  scene.child->Transmit(FrameType::kLeave, OfGroup({}));
  EXPECT_EQ(scene.member.AbsenceOf(Rank{2}), Member::RankAbsence::kLeft);
}

TEST(Member, AnAnswerEndsTheAbsenceOfARank) {
  Middle scene;
  scene.member.Ask(Rank{3}, scene.driver.now);
  scene.driver.Drain();
  const LineId refused = scene.driver.dials.back().line;
  scene.driver.Deliver(Closed{refused, "Connection refused"});
  scene.answered.insert(refused);
  EXPECT_EQ(scene.member.AbsenceOf(Rank{3}), Member::RankAbsence::kAbsent);
  scene.driver.Pass(seconds(1));
  EXPECT_TRUE(scene.Answer(FakeRank(3).addresses[0]).Take(FrameType::kAsk));
  EXPECT_EQ(scene.member.AbsenceOf(Rank{3}), Member::RankAbsence::kUnknown);
}

// Its process serves other communicators at the same endpoint, but no longer this one.
TEST(Member, ARankIsAbsentIfAnotherCommunicatorHasItsAddress) {
  Middle scene;
  scene.member.Ask(Rank{3}, scene.driver.now);
  scene.driver.Drain();
  scene.Answer(FakeRank(3).addresses[0], {.magic = 78, .secret = {}}).Close();
  EXPECT_EQ(scene.member.AbsenceOf(Rank{3}), Member::RankAbsence::kAbsent);
  for (int i = 0; i < 12; ++i) scene.driver.Pass(seconds(1));
  EXPECT_FALSE(scene.member.failure()) << scene.Why();
}

// ---- groups ------------------------------------------------------------------------------------

TEST(Member, AGroupReusesOpenConnectionsAndNumbersItsOwnRanks) {
  Middle scene;
  ASSERT_TRUE(scene.member.Form(kChild, kWorld, {2, 1}, scene.driver.now).ok());
  scene.driver.Drain();
  EXPECT_TRUE(scene.child->Take(FrameType::kForm)) << "rank 0 of the group";
  EXPECT_FALSE(scene.parent->Take(FrameType::kForm)) << "not in it";
  const std::size_t dials = scene.driver.dials.size();
  scene.member.Post(Rank{0}, 5, Bytes(1, std::byte{'x'}), scene.driver.now, kChild);
  scene.driver.Drain();
  const auto message = scene.child->Take(FrameType::kMessage);
  ASSERT_TRUE(message);
  Reader in(message->payload.bytes);
  EXPECT_EQ(in.U64(), kChild);
  EXPECT_EQ(scene.driver.dials.size(), dials) << "no line but those that stand";
  EXPECT_EQ(scene.member.roster(kChild).DescribeRank(Rank{0}), "rank 0 (host host1, pid 1002)");
}

TEST(Member, AGroupFailsIfAPeerHasAnotherListOfRanks) {
  Middle scene;
  ASSERT_TRUE(scene.member.Form(kChild, kWorld, {2, 1}, scene.driver.now).ok());
  Writer other;
  scene.child->Transmit(FrameType::kForm, other.U64(kChild).U64(1).view());
  ASSERT_TRUE(scene.member.failure(kChild));
  EXPECT_EQ(scene.member.failure(kChild)->code, Code::kInvalidArgument);
  EXPECT_THAT(scene.member.failure(kChild)->text, HasSubstr("another list"));
  EXPECT_FALSE(scene.member.failure()) << "the world goes on";
}

TEST(Member, AFailureOfTheWorldLeavesItsChildIntact) {
  Middle scene;
  ASSERT_TRUE(scene.member.Form(kChild, kWorld, {2, 1}, scene.driver.now).ok());
  scene.parent->Close();
  EXPECT_TRUE(scene.member.failure());
  EXPECT_FALSE(scene.member.failure(kChild)) << "rank 0 is not in it";
  scene.member.Leave();
  EXPECT_FALSE(scene.member.Finished());
  scene.child->Close();
  ASSERT_TRUE(scene.member.failure(kChild));
  EXPECT_EQ(scene.member.failure(kChild)->origin, 0u) << "by its ranks";
  scene.member.Leave(kChild);
  EXPECT_TRUE(scene.member.Finished());
}

TEST(Member, AGroupWithADeadRankFailsAtOnce) {
  Middle scene;
  scene.child->Close();
  ASSERT_TRUE(scene.member.Form(kChild, kWorld, {2, 1}, scene.driver.now).ok());
  EXPECT_TRUE(scene.member.failure(kChild));
  ASSERT_TRUE(scene.member.Form(kChild + 1, kWorld, {0, 1}, scene.driver.now).ok());
  EXPECT_FALSE(scene.member.failure(kChild + 1)) << "the survivors' group";
  EXPECT_FALSE(scene.member.Form(kChild, kWorld, {2, 1}, scene.driver.now).ok()) << "twice";
}

// The awaited rank died while the group was being formed: its parent never called it, and it had
// not called its parent.
TEST(Member, AnAwaitedRankWithoutAListenerIsLost) {
  Middle scene;
  ASSERT_TRUE(scene.member.Form(kChild, kWorld, {1, 3}, scene.driver.now).ok());
  scene.member.Gather(true, {}, kChild);
  const std::size_t dials = scene.driver.dials.size();
  scene.driver.Pass(milliseconds(0));
  EXPECT_EQ(scene.driver.dials.size(), dials) << "it may be about to call";
  std::size_t refused = dials;
  for (int i = 0; i < 20 && !scene.member.failure(kChild); ++i) {
    scene.driver.Pass(milliseconds(50));
    for (; refused < scene.driver.dials.size(); ++refused)
      scene.driver.Deliver(Closed{scene.driver.dials[refused].line, "Connection refused"});
  }
  EXPECT_GT(refused, dials);
  ASSERT_TRUE(scene.member.failure(kChild));
  EXPECT_EQ(scene.member.failure(kChild)->origin, 1u);
  EXPECT_THAT(scene.member.failure(kChild)->text,
              HasSubstr("rank 1 (host host1, pid 1003) has died, or has left"));
  EXPECT_FALSE(scene.member.failure()) << "the world needs no word of it";
}

TEST(Member, ARankOutsideAGroupThatFormsItFailsOnlyThatGroup) {
  Middle scene;
  ASSERT_TRUE(scene.member.Form(kChild, kWorld, {2, 1}, scene.driver.now).ok());
  scene.driver.Drain();
  Writer other;
  scene.parent->Transmit(FrameType::kForm, other.U64(kChild).U64(1).view());
  ASSERT_TRUE(scene.member.failure(kChild));
  EXPECT_THAT(scene.member.failure(kChild)->text,
              HasSubstr("not in this communicator takes part in it (host host0, pid 1000)"));
  EXPECT_FALSE(scene.member.failure()) << "the world goes on";
  EXPECT_TRUE(scene.parent->Take(FrameType::kForm));
}

// ---- reformed groups ---------------------------------------------------------------------------

// The payload of a form frame of kChild, or of a later attempt.
Bytes FormOf(const FormAnnouncement& announcement, GroupId group = kChild) {
  const Frame frame = FrameOf(FormFrame(group, announcement));
  return Bytes(frame.payload.bytes.begin(), frame.payload.bytes.end());
}

std::optional<FormAnnouncement> TakeForm(FarEnd& far, GroupId group = kChild) {
  const auto frame = far.Take(FrameType::kForm);
  const auto received = frame ? ReadGroupFrame(*frame) : std::nullopt;
  if (!received || received->group != group) return std::nullopt;
  return ReadFormation(*received);
}

// Returns the remaining ranks.
std::vector<std::uint32_t> Reformed(Scene& scene, GroupId group = kChild) {
  const auto lost = scene.member.Reform(group, kWorld, scene.driver.now);
  EXPECT_TRUE(lost.ok()) << lost.error().message;
  scene.driver.Drain();
  if (!lost.ok()) return {};
  return Survivors(scene.member.roster().size(), *lost).OldRanks();
}

TEST(Member, AReformedGroupLeavesOutTheLostRanksAndAnnouncesThem) {
  Middle scene;
  scene.child->Close();
  ASSERT_TRUE(scene.member.failure());
  EXPECT_THAT(Reformed(scene), testing::ElementsAre(0, 1, 3));
  EXPECT_FALSE(scene.member.failure(kChild));
  const auto form = TakeForm(*scene.parent);
  ASSERT_TRUE(form && form->lost);
  EXPECT_FALSE(form->lost->answers);
  EXPECT_THAT(form->lost->ranks, testing::ElementsAre(2));
}

TEST(Member, RanksOfAReformedGroupLearnOfLostRanksFromEachOther) {
  Middle scene;
  scene.child->Close();
  EXPECT_THAT(Reformed(scene), testing::ElementsAre(0, 1, 3));
  TakeForm(*scene.parent);
  scene.parent->Transmit(FrameType::kForm, FormOf({1, LostRanks{kWorld, false, {3, 77}}}));
  scene.driver.Drain();
  ASSERT_TRUE(scene.member.failure(kChild));
  EXPECT_EQ(scene.member.failure(kChild)->code, Code::kPeerLost);
  EXPECT_EQ(scene.member.failure(kChild)->origin, 2u) << "rank 3, by its number in the group";
  const auto form = TakeForm(*scene.parent);
  ASSERT_TRUE(form && form->lost);
  EXPECT_TRUE(form->lost->answers);
  EXPECT_THAT(form->lost->ranks, testing::ElementsAre(2, 3)) << "no rank 77 exists";
  EXPECT_TRUE(scene.parent->Take(FrameType::kFailure));
  EXPECT_THAT(Reformed(scene, kChild + 1), testing::ElementsAre(0, 1));
}

// It has to make the next attempt with the others, although it knows more than they do.
TEST(Member, AReformedGroupFailsIfAnotherRankKnowsLess) {
  Middle scene;
  scene.child->Close();
  Reformed(scene);
  scene.parent->Transmit(FrameType::kForm, FormOf({1, LostRanks{}}));
  ASSERT_TRUE(scene.member.failure(kChild));
  EXPECT_EQ(scene.member.failure(kChild)->code, Code::kPeerLost);
  EXPECT_EQ(scene.member.failure(kChild)->origin, kNoOrigin);
  EXPECT_THAT(Reformed(scene, kChild + 1), testing::ElementsAre(0, 1, 3));
}

TEST(Member, ALateRankGetsTheReasonOfAFailedAttempt) {
  for (const bool left : {false, true}) {
    Middle scene;
    scene.child->Close();
    Reformed(scene);
    const auto digest = TakeForm(*scene.parent)->digest;
    scene.member.Abort(Code::kPeerLost, "rank 3 is gone", kChild, 2);
    scene.driver.Drain();
    EXPECT_TRUE(scene.parent->Take(FrameType::kFailure));
    TakeForm(*scene.parent);
    if (left) scene.member.Leave(kChild);
    scene.parent->Transmit(FrameType::kForm, FormOf({digest, LostRanks{kWorld, false, {2}}}));
    scene.driver.Drain();
    const auto form = TakeForm(*scene.parent);
    ASSERT_TRUE(form && form->lost) << left;
    EXPECT_TRUE(form->lost->answers);
    EXPECT_THAT(form->lost->ranks, testing::ElementsAre(2, 3));
    EXPECT_TRUE(scene.parent->Take(FrameType::kFailure)) << left;
    scene.parent->Transmit(FrameType::kForm, FormOf({digest, LostRanks{kWorld, true, {2}}}));
    scene.driver.Drain();
    EXPECT_FALSE(scene.parent->Take(FrameType::kForm)) << "an answer gets no answer";
  }
}

TEST(Member, ARankThatOthersHaveLostCannotReform) {
  Middle scene;
  scene.child->Close();
  Reformed(scene);
  scene.parent->Transmit(FrameType::kForm, FormOf({1, LostRanks{kWorld, false, {1}}}));
  ASSERT_TRUE(scene.member.failure(kChild));
  const auto ranks = scene.member.Reform(kChild + 1, kWorld, scene.driver.now);
  ASSERT_FALSE(ranks.ok());
  EXPECT_EQ(ranks.error().code, Code::kPeerLost);
  EXPECT_EQ(ranks.error().lost_rank, 1);
  EXPECT_THAT(ranks.error().message, HasSubstr("rank 1 (host host0, pid 1001) is alive, but"));
}

TEST(Member, ALostRankThatTakesPartIsToldAndDoesNotDisturb) {
  Middle scene;
  Reformed(scene);
  scene.parent->Transmit(FrameType::kForm, FormOf({1, LostRanks{kWorld, false, {2}}}));
  EXPECT_THAT(Reformed(scene, kChild + 1), testing::ElementsAre(0, 1, 3));
  scene.driver.Drain();
  while (scene.child->Take(FrameType::kForm)) {
  }
  scene.child->Transmit(FrameType::kForm, FormOf({5, LostRanks{}}, kChild + 1));
  scene.driver.Drain();
  const auto form = TakeForm(*scene.child, kChild + 1);
  ASSERT_TRUE(form && form->lost);
  EXPECT_TRUE(form->lost->answers);
  EXPECT_THAT(form->lost->ranks, testing::ElementsAre(2));
  EXPECT_FALSE(scene.member.failure(kChild + 1));
  scene.child->Transmit(FrameType::kForm, FormOf({5, LostRanks{kWorld, true, {2}}}, kChild + 1));
  scene.driver.Drain();
  EXPECT_FALSE(scene.child->Take(FrameType::kForm)) << "an answer gets no answer";
}

// Its attempts may be ahead of those of the others.
TEST(Member, ALostRankThatReformsAnUnknownGroupIsTold) {
  Middle scene;
  EXPECT_THAT(Reformed(scene), testing::ElementsAre(0, 1, 2, 3));
  scene.parent->Transmit(FrameType::kForm, FormOf({1, LostRanks{kWorld, false, {2}}}));
  while (scene.child->Take(FrameType::kForm)) {
  }
  for (const bool answers : {false, true}) {
    scene.child->Transmit(FrameType::kForm,
                          FormOf({5, LostRanks{kWorld, answers, {}}}, kChild + 7));
    scene.driver.Drain();
    const auto form = TakeForm(*scene.child, kChild + 7);
    ASSERT_EQ(form.has_value(), !answers);
    if (!form) continue;
    ASSERT_TRUE(form->lost);
    EXPECT_TRUE(form->lost->answers);
    EXPECT_THAT(form->lost->ranks, testing::ElementsAre(2));
  }
  EXPECT_THAT(Reformed(scene, kChild + 7), testing::ElementsAre(0, 1, 3));
  EXPECT_FALSE(scene.member.failure(kChild + 7)) << "its announcement was not kept";
  // The rank may be alive for other communicators.
  while (scene.child->Take(FrameType::kForm)) {
  }
  scene.child->Transmit(FrameType::kForm,
                        FormOf({5, LostRanks{kChild + 50, false, {}}}, kChild + 8));
  scene.driver.Drain();
  EXPECT_FALSE(scene.child->Take(FrameType::kForm));
}

// Refuses all new dials of a member.
class RefusesDials {
 public:
  explicit RefusesDials(Scene& scene) : scene_(scene), refused_(scene.driver.dials.size()) {}
  void After(milliseconds wait) {
    scene_.driver.Pass(wait);
    for (; refused_ < scene_.driver.dials.size(); ++refused_)
      scene_.driver.Deliver(Closed{scene_.driver.dials[refused_].line, "Connection refused"});
  }

 private:
  Scene& scene_;
  std::size_t refused_;
};

// Begins a barrier of ranks 1, 2 and 3. Rank 3 replaces rank 0 as the parent of this rank, and the
// child has arrived.
void BeginBarrierWithoutRank0(Middle& scene) {
  scene.parent->Close();
  EXPECT_THAT(Reformed(scene), testing::ElementsAre(1, 2, 3));
  const auto form = TakeForm(*scene.child);
  ASSERT_TRUE(form);
  scene.member.Gather(true, {}, kChild);
  Writer arrival;
  Encode(arrival, GatherHeader{.sequence = 1, .barrier = true, .group_digest = form->digest});
  scene.child->Transmit(FrameType::kGather, OfGroup(arrival.Take(), kChild));
}

TEST(Member, AReformedGroupSoonFindsThatNoProcessListens) {
  Middle scene;
  RefusesDials refuses(scene);
  BeginBarrierWithoutRank0(scene);
  refuses.After(milliseconds(0));
  refuses.After(milliseconds(100));
  EXPECT_FALSE(scene.member.failure(kChild)) << "it may be about to listen";
  for (int i = 0; i < 3; ++i) refuses.After(milliseconds(10));
  ASSERT_TRUE(scene.member.failure(kChild));
  EXPECT_EQ(scene.member.failure(kChild)->origin, 2u);
  EXPECT_THAT(Reformed(scene, kChild + 1), testing::ElementsAre(1, 2));
}

TEST(Member, AReformedGroupLooksAtOnceAtARankThatWasDoubtedBefore) {
  Middle scene;
  RefusesDials refuses(scene);
  BeginBarrierWithoutRank0(scene);
  for (const int wait : {0, 100, 3, 5}) refuses.After(milliseconds(wait));
  ASSERT_FALSE(scene.member.failure(kChild));
  scene.child->Close();
  EXPECT_THAT(Reformed(scene, kChild + 1), testing::ElementsAre(1, 3));
  scene.member.Gather(true, {}, kChild + 1);
  refuses.After(milliseconds(0));
  EXPECT_FALSE(scene.member.failure(kChild + 1));
  refuses.After(milliseconds(10));
  ASSERT_TRUE(scene.member.failure(kChild + 1));
  EXPECT_EQ(scene.member.failure(kChild + 1)->origin, 1u);
}

TEST(Member, AReformedGroupFindsThatAnotherProcessHasTheAddressOfARank) {
  Middle scene;
  BeginBarrierWithoutRank0(scene);
  scene.driver.Pass(milliseconds(0));
  scene.driver.Pass(milliseconds(100));
  scene.Answer(FakeRank(3).addresses[0], {kCredentials.magic + 1, {}});
  scene.driver.Pass(milliseconds(10));
  ASSERT_TRUE(scene.member.failure(kChild));
  EXPECT_EQ(scene.member.failure(kChild)->origin, 2u);
}

TEST(Member, AReformedGroupSoonFindsThatARankDiedBeforeItSpoke) {
  Middle scene;
  BeginBarrierWithoutRank0(scene);
  scene.driver.Pass(milliseconds(0));
  scene.driver.Pass(milliseconds(100));
  scene.Answer(FakeRank(3).addresses[0]).Close();
  EXPECT_FALSE(scene.member.failure(kChild)) << "it may have left in good order";
  RefusesDials refuses(scene);
  for (int i = 0; i < 4; ++i) refuses.After(milliseconds(10));
  ASSERT_TRUE(scene.member.failure(kChild));
  EXPECT_EQ(scene.member.failure(kChild)->origin, 2u);
}

// ---- the class alone ---------------------------------------------------------------------------

TEST(StandingMember, EndsAfterItLeavesTheLastGroup) {
  Parts parts(Config(1, 4));
  parts.common.roster = RosterOf(4);
  StandingMember standing(parts.common, CreateWorldMembership(parts.common.config, {}, RosterOf(4)),
                          {});
  ASSERT_TRUE(standing.Form(kChild, kWorld, {1, 3}, parts.common.now).ok());
  standing.Leave(kWorld);
  EXPECT_FALSE(standing.has_left_all());
  EXPECT_FALSE(standing.Find(kWorld));
  EXPECT_FALSE(standing.Form(kChild + 1, kWorld, {1, 3}, parts.common.now).ok());
  standing.Leave(kChild);
  ASSERT_TRUE(standing.has_left_all());
  EXPECT_FALSE(std::move(standing).End().failure);
}

TEST(StandingMember, DeliversEarlyFramesToTheGroupsThatItForms) {
  Parts parts(Config(1, 4));
  parts.common.roster = RosterOf(4);
  EarlyFrames early;
  early.Keep(kChild, {3, FrameType::kForm, Slice(Share(Bytes(8)))});
  StandingMember standing(parts.common, CreateWorldMembership(parts.common.config, {}, RosterOf(4)),
                          std::move(early));
  ASSERT_TRUE(standing.Form(kChild, kWorld, {1, 3}, parts.common.now).ok());
  ASSERT_TRUE(standing.Find(kChild)->failure());
  EXPECT_THAT(standing.Find(kChild)->failure()->text, HasSubstr("has another list"));
}

// Rank 0 of 10. Ranks 2 to 9 share a host, and rank 2 is its top rank.
struct TwoHosts : Parts {
  TwoHosts() : Parts(Config(0, 10)), standing(common, World(), {}) {
    common.roster = TheRoster();
    standing.OnLost(2, Code::kPeerLost, "was lost");
    EXPECT_TRUE(standing.Reform(kChild, kWorld, common.now).ok());
    standing.Gather(true, {}, kChild);
  }
  static Roster TheRoster() {
    std::vector<RankRecord> records;
    for (std::uint32_t rank = 0; rank < 10; ++rank)
      records.push_back({RecordOf(FakeRank(rank)), rank < 2 ? 0u : 2u});
    return Roster::Build(0, records);
  }
  std::unique_ptr<GroupMembership> World() const {
    return CreateWorldMembership(common.config, {.parent = {}, .children = {1, 2}}, TheRoster());
  }
  // The called ranks of the other host.
  std::vector<std::uint32_t> Called() {
    std::vector<std::uint32_t> peers;
    for (const auto& call : common.connections.calls())
      if (call.peer >= 2) peers.push_back(call.peer);
    return peers;
  }
  // The called rank refuses this call, and the next ones.
  void Refuse(std::uint32_t peer, int times = 3) {
    auto* const call = common.connections.CallTo(peer);
    ASSERT_TRUE(call) << peer;
    const Instant begin = common.now;
    for (int i = 0; i < times; ++i, common.now += milliseconds(10)) {
      call->dialler.Advance(common.now);
      const Address to = FakeRank(peer).addresses[0];
      LineId line = 0;
      for (const Action& action : actions)
        if (const Dial* const dial = std::get_if<Dial>(&action); dial && dial->to == to)
          line = dial->line;
      call->dialler.OnClosed(line, "refused", common.now);
      common.now = begin;
      standing.OnDialClosed(*call, false, "");
      common.now = begin + i * milliseconds(10);
    }
    common.now = begin;
  }
  void Connect(std::uint32_t peer) {
    auto& calls = common.connections.calls();
    const auto made = std::ranges::find(calls, peer, &Connections::CallInProgress::peer);
    const Connections::CallInProgress call = std::move(*made);
    calls.erase(made);
    common.connections.Open(call, {next_line++, OpenWire(), {}}, common.now);
  }
  void Pass(Instant time) {
    common.now += time;
    standing.OnTick();
  }
  StandingMember standing;
};

TEST(StandingMember, CallsTheNextTopRankOfAHostAtOnce) {
  TwoHosts scene;
  EXPECT_THAT(scene.Called(), testing::ElementsAre(3));
}

TEST(StandingMember, ARefusalOfATopRankLeadsToCallsOfThoseBehindIt) {
  TwoHosts scene;
  scene.Refuse(3, 1);
  EXPECT_THAT(scene.Called(), testing::ElementsAre(3, 4, 5, 6, 7, 8, 9));
  scene.Refuse(5, 1);
  EXPECT_THAT(scene.Called(), testing::SizeIs(7)) << "it is not a top rank";
}

TEST(StandingMember, ItsRefusalsAndThoseRightBehindItAreDeaths) {
  TwoHosts scene;
  scene.Refuse(3);
  for (const std::uint32_t peer : {4u, 6u}) scene.Refuse(peer);
  scene.Pass(Instant(0));
  scene.Pass(milliseconds(9));
  EXPECT_FALSE(scene.standing.Find(kChild)->failure());
  scene.Pass(milliseconds(1));
  ASSERT_TRUE(scene.standing.Find(kChild)->failure());
  const auto lost = scene.standing.Reform(kChild + 1, kWorld, scene.common.now);
  ASSERT_TRUE(lost.ok());
  EXPECT_THAT(*lost, testing::ElementsAre(2, 3, 4))
      << "rank 5 has not refused, so 6 does not matter";
  EXPECT_EQ(scene.common.connections.CallTo(3)->expires, scene.common.now);
  EXPECT_GT(scene.common.connections.CallTo(6)->expires, scene.common.now);
}

TEST(StandingMember, AConnectedRankBehindATopRankIsAlive) {
  TwoHosts scene;
  scene.Refuse(3);
  scene.Refuse(4);
  scene.Connect(4);
  scene.Pass(Instant(0));
  scene.Pass(milliseconds(10));
  const auto lost = scene.standing.Reform(kChild + 1, kWorld, scene.common.now);
  ASSERT_TRUE(lost.ok());
  EXPECT_THAT(*lost, testing::ElementsAre(2, 3));
}

TEST(StandingMember, ACallThatNoGroupNeedsMayStayUnanswered) {
  TwoHosts scene;
  scene.Refuse(3, 1);
  scene.standing.OnExpired(*scene.common.connections.CallTo(9), "no answer");
  EXPECT_FALSE(scene.standing.Find(kChild)->failure());
  scene.standing.OnExpired(*scene.common.connections.CallTo(9), "no answer");
  ASSERT_TRUE(scene.standing.Find(kChild)->failure()) << "another call";
  EXPECT_EQ(scene.standing.Find(kChild)->failure()->origin, 8u);
}

// The ranks behind rank 3 are called ahead, and then they must learn of the failure.
TEST(StandingMember, AwaitsNoFailureAnswerOfRanksThatCannotBeReached) {
  TwoHosts scene;
  scene.Refuse(3, 1);
  scene.standing.Abort(Code::kAborted, "no memory", kChild);
  scene.Refuse(3, 1);
  EXPECT_TRUE(scene.standing.AwaitsFailureAnswers(kChild));
  for (const std::uint32_t peer : {1u, 4u, 5u, 6u, 7u, 8u, 9u})
    scene.standing.OnExpired(*scene.common.connections.CallTo(peer), "no answer");
  EXPECT_FALSE(scene.standing.AwaitsFailureAnswers(kChild));
}

TEST(StandingMember, ACallThatAGroupNeedsMeanwhileMustBeAnswered) {
  TwoHosts scene;
  scene.Refuse(3, 1);
  scene.standing.Post(8, 1, {}, scene.common.now, kChild);
  scene.standing.OnExpired(*scene.common.connections.CallTo(9), "no answer");
  ASSERT_TRUE(scene.standing.Find(kChild)->failure());
  EXPECT_EQ(scene.standing.Find(kChild)->failure()->origin, 8u);
}

}  // namespace
}  // namespace ringlet::bootstrap
