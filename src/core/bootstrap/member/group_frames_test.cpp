#include "bootstrap/member/group_frames.hpp"

#include "bootstrap/member/member_scene_for_test.hpp"

namespace ringlet::bootstrap {
namespace {

TEST(GroupFrames, FramesRoundTrip) {
  const Frame frame = FrameOf(GroupFrame(7, FrameType::kMessage, AsView("head"), AsView("body")));
  const auto received = ReadGroupFrame(frame);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->group, 7u);
  EXPECT_EQ(received->type, FrameType::kMessage);
  EXPECT_EQ(AsText(received->payload.bytes), "headbody");
}

TEST(GroupFrames, RefusesAFrameShorterThanAGroupId) {
  const Bytes seven(7);
  EXPECT_FALSE(ReadGroupFrame({static_cast<std::uint8_t>(FrameType::kAsk), Slice(View(seven))}));
}

TEST(GroupFrames, FormAndFailureFramesHaveTheirPayloads) {
  const Frame form = FrameOf(FormFrame(7, {0x1234}));
  EXPECT_EQ(Reader(ReadGroupFrame(form)->payload.bytes).U64(), 0x1234u);
  const auto formation = ReadFormation(*ReadGroupFrame(form));
  ASSERT_TRUE(formation);
  EXPECT_EQ(formation->digest, 0x1234u);
  EXPECT_FALSE(formation->lost) << "not a reformed group";
  const Frame failure = FrameOf(GroupFailureFrame(7, {Code::kPeerLost, 3, "rank 3 was lost"}));
  const auto story = ParseFailure(ReadGroupFrame(failure)->payload.bytes);
  ASSERT_TRUE(story.ok());
  EXPECT_EQ(story->origin, 3u);
  EXPECT_EQ(story->text, "rank 3 was lost");
}

TEST(GroupFrames, AReformedGroupAnnouncesItsLostRanks) {
  for (const bool answers : {false, true})
    for (const auto& ranks : {std::vector<std::uint32_t>(), {0, 7, 0xfffffffe}}) {
      const Frame frame = FrameOf(FormFrame(7, {0x1234, LostRanks{77, answers, ranks}}));
      const auto formation = ReadFormation(*ReadGroupFrame(frame));
      ASSERT_TRUE(formation && formation->lost);
      EXPECT_EQ(formation->digest, 0x1234u);
      EXPECT_EQ(formation->lost->lineage, 77u);
      EXPECT_EQ(formation->lost->answers, answers);
      EXPECT_EQ(formation->lost->ranks, ranks);
    }
}

TEST(GroupFrames, RefusesAMalformedAnnouncement) {
  for (const std::size_t size : {0u, 7u, 9u, 16u, 18u, 20u, 22u})
    EXPECT_FALSE(ReadForm(Bytes(size))) << size;
  for (const std::size_t size : {8u, 17u, 21u}) EXPECT_TRUE(ReadForm(Bytes(size))) << size;
  EXPECT_FALSE(ReadForm(Bytes(25))) << "rank 0 occurs twice";
}

TEST(GroupFrames, AGatherFrameShowsTheDigestOfItsGroup) {
  Writer gather;
  Encode(gather, {.sequence = 3, .barrier = false, .group_digest = 0x1234});
  const Frame frame = FrameOf(GroupFrame(7, FrameType::kGather, gather.view()));
  const auto formation = ReadFormation(*ReadGroupFrame(frame));
  ASSERT_TRUE(formation);
  EXPECT_EQ(formation->digest, 0x1234u);
  EXPECT_FALSE(ReadFormation({7, FrameType::kMessage, Slice()}));
}

}  // namespace
}  // namespace ringlet::bootstrap
