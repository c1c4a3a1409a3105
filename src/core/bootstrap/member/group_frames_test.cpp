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
  const Frame form = FrameOf(FormFrame(7, 0x1234));
  EXPECT_EQ(Reader(ReadGroupFrame(form)->payload.bytes).U64(), 0x1234u);
  const Frame failure = FrameOf(GroupFailureFrame(7, {Code::kPeerLost, 3, "rank 3 was lost"}));
  const auto story = ParseFailure(ReadGroupFrame(failure)->payload.bytes);
  ASSERT_TRUE(story.ok());
  EXPECT_EQ(story->origin, 3u);
  EXPECT_EQ(story->text, "rank 3 was lost");
}

}  // namespace
}  // namespace ringlet::bootstrap
