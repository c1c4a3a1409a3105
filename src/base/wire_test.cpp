#include "base/wire.hpp"

#include <gtest/gtest.h>

namespace ringlet {
namespace {

const Credentials kCredentials{77, {}};

Bytes FrameOf(std::uint8_t type, std::string_view text) {
  Writer out = BeginFrame(type);
  out.Raw(AsView(text));
  return EndFrame(std::move(out));
}

void Append(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}

TEST(Wire, ProvesThenSpeaksInFrames) {
  Wire dialled = Wire::Dialled(kCredentials, Purpose::kPeer, {}, 100);
  Wire accepted = Wire::Accepted(kCredentials, {}, 100);
  ASSERT_TRUE(accepted.Push(Slice(Share(dialled.TakeReply()))).ok());
  EXPECT_FALSE(accepted.open());
  EXPECT_FALSE(accepted.JustOpened());
  ASSERT_TRUE(dialled.Push(Slice(Share(accepted.TakeReply()))).ok());
  EXPECT_TRUE(dialled.JustOpened());
  EXPECT_FALSE(dialled.JustOpened()) << "once";
  EXPECT_TRUE(dialled.open());

  // The proof and what follows it may come in one piece.
  Bytes more = dialled.TakeReply();
  Append(more, FrameOf(3, "first"));
  Append(more, FrameOf(4, "second"));
  ASSERT_TRUE(accepted.Push(Slice(Share(std::move(more)))).ok());
  EXPECT_TRUE(accepted.JustOpened());
  EXPECT_EQ(accepted.purpose(), Purpose::kPeer);
  EXPECT_EQ(AsText((*accepted.Next())->payload.bytes), "first");
  EXPECT_EQ((*accepted.Next())->type, 4);
  EXPECT_FALSE(accepted.Next()->has_value());
}

TEST(Wire, GivesNoFrameBeforeTheProof) {
  Wire accepted = Wire::Accepted(kCredentials, {}, 100);
  const Bytes early = FrameOf(1, "let me in");
  ASSERT_TRUE(accepted.Push(Slice(View(early))).ok());
  EXPECT_FALSE(accepted.Next()->has_value());
  const Status status = accepted.Push(Slice(Share(Bytes(48 + 32, std::byte{1}))));
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(accepted.open());
  EXPECT_FALSE(accepted.Next()->has_value());
}

TEST(Wire, BoundsTheFramesBehindTheHandshake) {
  Wire dialled = Wire::Dialled(kCredentials, Purpose::kPeer, {}, 4);
  Wire accepted = Wire::Accepted(kCredentials, {}, 4);
  ASSERT_TRUE(accepted.Push(Slice(Share(dialled.TakeReply()))).ok());
  ASSERT_TRUE(dialled.Push(Slice(Share(accepted.TakeReply()))).ok());
  ASSERT_TRUE(accepted.Push(Slice(Share(dialled.TakeReply()))).ok());
  ASSERT_TRUE(accepted.Push(Slice(Share(FrameOf(1, "12345")))).ok());
  EXPECT_FALSE(accepted.Next().ok());
}

}  // namespace
}  // namespace ringlet
