#include "base/wire/frame.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>

#include "base/value/prng.hpp"

namespace ringlet {
namespace {

Bytes Payload(std::size_t bytes, std::uint64_t salt) {
  Bytes payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::byte>(i * 7 + salt);
  return payload;
}

Bytes FrameOf(std::uint8_t type, View payload) {
  Writer out = BeginFrame(type);
  out.Raw(payload);
  return EndFrame(std::move(out));
}

Bytes BytesOf(const Slice& slice) {
  return {slice.bytes.begin(), slice.bytes.end()};
}

TEST(Frame, ConsistsOfLengthTypeAndPayload) {
  EXPECT_EQ(FrameOf(7, AsView("ab")), Bytes({std::byte{2}, std::byte{0}, std::byte{0}, std::byte{0},
                                             std::byte{7}, std::byte{'a'}, std::byte{'b'}}));
  EXPECT_EQ(FrameOf(7, {}).size(), kFrameHeaderBytes);
}

// The pieces are borrowed and invalid after each round, like a driver's read buffer.
TEST(FrameReader, ReadsFramesOfAStreamCutAnywhere) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Prng prng(seed);
    std::vector<Bytes> payloads;
    Bytes stream;
    for (std::uint64_t i = 0; i < 1 + prng.Below(20); ++i) {
      payloads.push_back(Payload(prng.Below(seed % 3 == 0 ? 3000 : 12), i));
      const Bytes frame = FrameOf(static_cast<std::uint8_t>(i), payloads.back());
      stream.insert(stream.end(), frame.begin(), frame.end());
    }
    FrameReader reader(3000);
    std::size_t seen = 0;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t bytes =
          std::min<std::size_t>(1 + prng.Below(40u << prng.Below(8)), stream.size() - at);
      Bytes piece(stream.begin() + static_cast<std::ptrdiff_t>(at),
                  stream.begin() + static_cast<std::ptrdiff_t>(at + bytes));
      at += bytes;
      reader.Push(Slice(View(piece)));
      while (auto frame = *reader.Next()) {
        ASSERT_LT(seen, payloads.size());
        EXPECT_EQ(frame->type, seen);
        EXPECT_EQ(BytesOf(frame->payload), payloads[seen++]);
      }
      std::ranges::fill(piece, std::byte{0xee});
    }
    EXPECT_EQ(seen, payloads.size());
    EXPECT_EQ(reader.buffered_bytes(), 0u);
  }
}

TEST(FrameReader, ReturnsAnOwnedFrameWithoutACopy) {
  const SharedBytes whole = Share(FrameOf(1, Payload(1000, 1)));
  FrameReader reader(1000);
  reader.Push(Slice(whole));
  const auto frame = *reader.Next();
  EXPECT_EQ(frame->payload.bytes.data(), whole->data() + kFrameHeaderBytes);
  EXPECT_EQ(frame->payload.owner, whole);
}

TEST(FrameReader, ReturnsAnOwnedPayloadAfterASeparateHeaderWithoutACopy) {
  const Bytes first = FrameOf(1, Payload(1000, 3)), second = FrameOf(2, Payload(10, 4));
  FrameReader reader(3000);
  reader.Push(Slice(View(first).first(kFrameHeaderBytes)));
  ASSERT_FALSE(reader.Next().value());
  Bytes behind(first.begin() + kFrameHeaderBytes, first.end());
  behind.insert(behind.end(), second.begin(), second.end());
  const SharedBytes shared = Share(behind);
  reader.Push(Slice(shared));
  EXPECT_EQ(reader.buffered_bytes(), behind.size());
  reader.Push(Slice(View(second)));  // before the first frame is taken
  const auto frame = reader.Next().value();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->type, 1);
  EXPECT_EQ(frame->payload.owner, shared);
  EXPECT_EQ(BytesOf(frame->payload), Payload(1000, 3));
  for (int i = 0; i < 2; ++i) {
    const auto next = reader.Next().value();
    ASSERT_TRUE(next);
    EXPECT_EQ(next->type, 2);
    EXPECT_EQ(BytesOf(next->payload), Payload(10, 4));
  }
  EXPECT_FALSE(reader.Next().value());
  EXPECT_EQ(reader.buffered_bytes(), 0u);
}

TEST(FrameReader, ChecksAnOwnedPayloadAfterASeparateHeader) {
  const Bytes whole = FrameOf(1, Payload(1000, 3));
  const View header = View(whole).first(kFrameHeaderBytes);
  FrameReader cut(1000);
  cut.Push(Slice(header));
  cut.Push(Slice(Share(Bytes(whole.begin() + kFrameHeaderBytes, whole.end() - 1))));
  EXPECT_FALSE(cut.Next().value());
  cut.Push(Slice(View(whole).last(1)));
  EXPECT_EQ(BytesOf(cut.Next().value()->payload), Payload(1000, 3));
  FrameReader bounded(999);
  bounded.Push(Slice(header));
  bounded.Push(Slice(Share(Bytes(whole.begin() + kFrameHeaderBytes, whole.end()))));
  EXPECT_FALSE(bounded.Next().ok());
}

TEST(FrameReader, AFrameInSeveralPushesOwnsItsBytes) {
  const Bytes whole = FrameOf(1, Payload(100, 1));
  FrameReader reader(1000);
  Slice payload;
  {
    Bytes first(whole.begin(), whole.begin() + 50), second(whole.begin() + 50, whole.end());
    reader.Push(Slice(View(first)));
    EXPECT_FALSE(reader.Next()->has_value());
    reader.Push(Slice(View(second)));
    payload = (*reader.Next())->payload;
  }
  ASSERT_TRUE(payload.owner);
  EXPECT_EQ(BytesOf(payload), Payload(100, 1));
}

TEST(FrameReader, SeveralPushesBeforeTheFirstNextAreJoined) {
  const Bytes a = FrameOf(1, Payload(9, 1)), b = FrameOf(2, Payload(4, 2));
  FrameReader reader(100);
  reader.Push(Slice(View(a)));
  reader.Push(Slice(View(b)));
  EXPECT_EQ((*reader.Next())->type, 1);
  EXPECT_EQ(BytesOf((*reader.Next())->payload), Payload(4, 2));
  EXPECT_FALSE(reader.Next()->has_value());
}

TEST(FrameReader, RefusesALengthBeyondTheBoundBeforeThePayload) {
  for (const bool in_pieces : {false, true}) {
    FrameReader reader(10);
    Writer out;
    out.U32(11).U8(1);
    const Bytes head = out.Take();
    if (in_pieces) {
      reader.Push(Slice(View(head).first(3)));
      ASSERT_FALSE(reader.Next()->has_value());
      reader.Push(Slice(View(head).subspan(3)));
    } else {
      reader.Push(Slice(View(head)));
    }
    const auto frame = reader.Next();
    ASSERT_FALSE(frame.ok());
    EXPECT_EQ(frame.error().code, Code::kProtocol);
    EXPECT_EQ(frame.error().message, "a frame of 11 bytes, more than the 10 allowed here");
  }
  FrameReader reader(10);
  const Bytes whole = FrameOf(1, Payload(10, 0));
  reader.Push(Slice(View(whole)));
  EXPECT_TRUE(reader.Next()->has_value());
}

TEST(FrameReader, BuffersReceivedBytesAndDoesNotReserveTheLength) {
  FrameReader reader(std::size_t{1} << 30);
  Writer out;
  out.U32(1u << 30).U8(1).U8(0);
  reader.Push(Slice(out.view()));
  EXPECT_FALSE(reader.Next()->has_value());
  EXPECT_EQ(reader.buffered_bytes(), 6u);
  const std::size_t mapped = mallinfo2().hblkhd;
  reader.Push(Slice(View(Bytes(100))));
  EXPECT_FALSE(reader.Next()->has_value());
  EXPECT_EQ(reader.buffered_bytes(), 106u);
  EXPECT_LT(mallinfo2().hblkhd, mapped + (std::size_t{1} << 20)) << "no room for what may not come";
}

}  // namespace
}  // namespace ringlet
