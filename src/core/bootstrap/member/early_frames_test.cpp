#include "bootstrap/member/early_frames.hpp"

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

TEST(Member, KeepsFramesOfAGroupUntilItForms) {
  Middle scene;
  Writer early;
  early.U64(kChild).U64(5).Raw(AsView("early"));
  scene.child->Transmit(FrameType::kMessage, early.view());
  EXPECT_FALSE(scene.member.failure());
  ASSERT_TRUE(scene.member.Form(kChild, kWorld, {2, 1}, scene.driver.now).ok());
  EXPECT_EQ(AsText(*scene.member.TakeMessage(Rank{0}, 5, kChild)), "early");
  EXPECT_FALSE(scene.member.TakeMessage(Rank{2}, 5)) << "not the world's";
}

TEST(Member, KeepsFramesOfAGroupUntilItStands) {
  Middle scene(false);
  Writer early;
  early.U64(kChild).U64(5).Raw(AsView("early"));
  scene.child->Transmit(FrameType::kMessage, early.view());
  scene.parent->Transmit(FrameType::kGo);
  ASSERT_TRUE(scene.member.Form(kChild, kWorld, {2, 1}, scene.driver.now).ok());
  const auto message = scene.member.TakeMessage(Rank{0}, 5, kChild);
  ASSERT_TRUE(message);
  EXPECT_EQ(AsText(*message), "early");
}

TEST(Member, BoundsTheFramesKeptForGroups) {
  Middle scene;
  Writer early;
  early.U64(kChild).U64(5);
  for (int i = 0; i < 65'536; ++i) scene.child->Transmit(FrameType::kMessage, early.view());
  EXPECT_FALSE(scene.member.failure());
  scene.child->Transmit(FrameType::kMessage, early.view());
  ASSERT_TRUE(scene.member.failure());
  EXPECT_EQ(scene.member.failure()->origin, 2u);
  EXPECT_THAT(scene.Why(), HasSubstr("sends more frames to a communicator than rank"));
}

TEST(EarlyFrames, ReturnsTheFramesOfAGroupOnceInOrder) {
  EarlyFrames early;
  EXPECT_TRUE(early.Keep(7, {1, FrameType::kForm, {}}));
  EXPECT_TRUE(early.Keep(8, {1, FrameType::kAsk, {}}));
  EXPECT_TRUE(early.Keep(7, {2, FrameType::kLeave, {}}));
  const std::vector<EarlyFrame> taken = early.Take(7);
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].type, FrameType::kForm);
  EXPECT_EQ(taken[1].type, FrameType::kLeave);
  EXPECT_TRUE(early.Take(7).empty());
  EXPECT_EQ(early.Take(8).size(), 1u);
}

TEST(EarlyFrames, BoundsTheirBytes) {
  EarlyFrames early;
  const Slice half(Share(Bytes(EarlyFrames::kBytesMax / 2)));
  EXPECT_TRUE(early.Keep(7, {1, FrameType::kMessage, half}));
  EXPECT_TRUE(early.Keep(8, {1, FrameType::kMessage, half}));
  EXPECT_EQ(early.Take(7).size(), 1u);
  EXPECT_TRUE(early.Keep(8, {1, FrameType::kMessage, half})) << "those that were taken are gone";
  EXPECT_FALSE(early.Keep(8, {1, FrameType::kMessage, Slice(Share(Bytes(1)))}));
}

}  // namespace
}  // namespace ringlet::bootstrap
