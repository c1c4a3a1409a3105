#include "bootstrap/member/left_groups.hpp"

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

TEST(Member, AnswersAQuestionInADepartedGroupWithALeave) {
  Middle scene;
  ASSERT_TRUE(scene.member.Form(kChild, kWorld, {2, 1}, scene.driver.now).ok());
  scene.member.Leave(kChild);
  scene.driver.Drain();
  ASSERT_TRUE(scene.child->Take(FrameType::kLeave));
  Writer ask;
  scene.child->Transmit(FrameType::kAsk, ask.U64(kChild).view());
  EXPECT_TRUE(scene.child->Take(FrameType::kLeave));
}

TEST(Member, ARankThatFormsAFailedDepartedGroupGetsTheFailure) {
  Middle scene;
  ASSERT_TRUE(scene.member.Form(kChild, kWorld, {2, 1}, scene.driver.now).ok());
  scene.driver.Drain();
  const auto form = scene.child->Take(FrameType::kForm);
  ASSERT_TRUE(form);
  scene.member.Abort(Code::kAborted, "no memory", kChild);
  scene.member.Leave(kChild);
  scene.driver.Drain();
  EXPECT_EQ(scene.child->TakeFailure(FrameType::kFailure).text, "no memory");
  scene.child->Transmit(FrameType::kForm, form->payload.bytes);
  EXPECT_EQ(scene.child->TakeFailure(FrameType::kFailure).text, "no memory");
  Writer other;
  scene.child->Transmit(FrameType::kForm, other.U64(kChild).U64(1).view());
  EXPECT_TRUE(scene.child->Take(FrameType::kForm)) << "it has another list";
}

// The caller has authenticated but not identified itself. It would mistake the hangup for a loss.
TEST(Member, ACallerThatHasNotIdentifiedItselfGetsALeave) {
  Middle scene;
  FarEnd& three = scene.Call(Purpose::kPeer);
  scene.member.Leave();
  scene.driver.Drain();
  EXPECT_TRUE(three.Take(FrameType::kLeave));
  EXPECT_TRUE(three.hung_up());
}

std::optional<FrameType> AnswerOf(const LeftGroups& groups, FrameType type, std::uint64_t digest) {
  Writer payload;
  payload.U64(digest);
  const auto answers = groups.AnswerTo({kChild, type, Slice(Share(payload.Take()))});
  if (answers.empty()) return std::nullopt;
  EXPECT_EQ(answers.size(), 1u);
  return static_cast<FrameType>(FrameOf(answers.front()).type);
}

TEST(LeftGroups, TheReplyDependsOnTheFrameAndTheListOfRanks) {
  const GroupMembership group({.id = kChild, .self = 0, .size = 1, .digest = 5});
  LeftGroups groups;
  EXPECT_FALSE(groups.Contains(kChild));
  groups.Add(group);
  EXPECT_TRUE(groups.Contains(kChild));
  EXPECT_EQ(AnswerOf(groups, FrameType::kForm, 5), FrameType::kLeave);
  EXPECT_EQ(AnswerOf(groups, FrameType::kForm, 6), FrameType::kForm) << "another list of ranks";
  EXPECT_EQ(AnswerOf(groups, FrameType::kAsk, 0), FrameType::kLeave);
  EXPECT_EQ(AnswerOf(groups, FrameType::kFailure, 0), FrameType::kLeave);
  EXPECT_FALSE(AnswerOf(groups, FrameType::kMessage, 0)) << "needs no answer";
  EXPECT_EQ(groups.LeaveFrames().size(), 1u);
}

TEST(LeftGroups, ARankThatFormsAFailedGroupGetsTheFailure) {
  GroupMembership group({.id = kChild, .self = 0, .size = 1, .digest = 5});
  group.group.FailHere(Code::kAborted, "no memory");
  LeftGroups groups;
  groups.Add(group);
  EXPECT_EQ(AnswerOf(groups, FrameType::kForm, 5), FrameType::kFailure);
  EXPECT_EQ(AnswerOf(groups, FrameType::kForm, 6), FrameType::kForm);
}

TEST(LeftGroups, ARankThatFormsAReformedGroupGetsTheLostRanksOnce) {
  GroupMembership group({.id = kChild, .self = 0, .size = 1, .digest = 5});
  group.reformed_from = kWorld;
  group.lost = {3, 4};
  group.group.FailHere(Code::kPeerLost, "rank 3 is lost", 3);
  LeftGroups groups;
  groups.Add(group);
  const auto answers_to = [&](std::uint64_t digest, bool answers) {
    std::vector<FrameType> types;
    const Frame form = FrameOf(FormFrame(kChild, {digest, LostRanks{kWorld, answers, {9}}}));
    for (const Slice& answer : groups.AnswerTo(*ReadGroupFrame(form))) {
      const auto received = *ReadGroupFrame(FrameOf(answer));
      types.push_back(received.type);
      if (received.type != FrameType::kForm) continue;
      const auto formation = ReadFormation(received);
      EXPECT_TRUE(formation->lost->answers);
      EXPECT_THAT(formation->lost->ranks, testing::ElementsAre(3, 4));
    }
    return types;
  };
  EXPECT_THAT(answers_to(5, false), testing::ElementsAre(FrameType::kForm, FrameType::kFailure));
  EXPECT_THAT(answers_to(6, false), testing::ElementsAre(FrameType::kForm));
  EXPECT_THAT(answers_to(5, true), testing::IsEmpty());
  EXPECT_THAT(answers_to(6, true), testing::IsEmpty());
}

}  // namespace
}  // namespace ringlet::bootstrap
