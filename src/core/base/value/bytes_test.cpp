#include "base/value/bytes.hpp"

#include <gtest/gtest.h>

#include "base/value/prng.hpp"

namespace ringlet {
namespace {

Bytes Of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(Writer, IsLittleEndianWithoutPadding) {
  Writer out;
  out.U8(1).U16(0x0302).U32(0x07060504).U64(0x0f0e0d0c0b0a0908).Blob(AsView("hi")).Pad(2);
  EXPECT_EQ(out.size(), 23u);
  EXPECT_EQ(out.Take(),
            Of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 2, 0, 0, 0, 'h', 'i', 0, 0}));
}

TEST(Writer, PatchesEarlierBytes) {
  Writer out;
  out.U8(9).U32(0).U8(9);
  out.PatchU32(1, 0x04030201);
  EXPECT_EQ(out.Take(), Of({9, 1, 2, 3, 4, 9}));
}

TEST(Reader, ReadsTheValuesOfAWriter) {
  Writer out;
  out.U8(250).U16(65000).U32(4'000'000'000).U64(~std::uint64_t{1}).Text("ringlet").Raw(AsView("x"));
  Reader in(out.view());
  EXPECT_EQ(in.U8(), 250);
  EXPECT_EQ(in.U16(), 65000);
  EXPECT_EQ(in.U32(), 4'000'000'000u);
  EXPECT_EQ(in.U64(), ~std::uint64_t{1});
  EXPECT_EQ(in.Text(7), "ringlet");
  EXPECT_FALSE(in.AtEnd());
  EXPECT_EQ(AsText(in.Raw(1)), "x");
  EXPECT_TRUE(in.AtEnd());
}

TEST(Reader, AFailurePersistsAndLaterReadsReturnZero) {
  Reader in(AsView("abc"));
  EXPECT_EQ(in.U32(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.U8(), 0);
  EXPECT_TRUE(in.Raw(1).empty());
  EXPECT_FALSE(in.AtEnd());
}

TEST(Reader, ABlobLongerThanItsBoundFails) {
  Writer out;
  out.Text("four");
  EXPECT_EQ(Reader(out.view()).Text(4), "four");
  Reader in(out.view());
  EXPECT_EQ(in.Text(3), "");
  EXPECT_FALSE(in.ok());
}

TEST(Reader, ALengthBeyondTheInputFails) {
  for (const std::uint32_t length : {5u, 0x7fffffffu, 0xffffffffu}) {
    Writer out;
    out.U32(length).Raw(AsView("four"));
    Reader in(out.view());
    EXPECT_TRUE(in.Blob(0xffffffff).empty());
    EXPECT_FALSE(in.ok()) << length;
  }
}

TEST(Reader, CanBeFailedByItsCaller) {
  Reader in(AsView(""));
  EXPECT_TRUE(in.AtEnd());
  in.Fail();
  EXPECT_FALSE(in.ok());
  EXPECT_FALSE(in.AtEnd());
}

TEST(Reader, EveryTruncationFails) {
  Writer out;
  out.U8(1).U64(2).Text("some text").U16(3);
  for (std::size_t cut = 0; cut < out.size(); ++cut) {
    Reader in(out.view().first(cut));
    in.U8();
    in.U64();
    in.Text(100);
    in.U16();
    EXPECT_FALSE(in.ok()) << "cut at " << cut;
  }
}

TEST(Slice, OwnedCopiesOnlyBorrowedBytes) {
  Bytes here = Of({1, 2, 3});
  const Slice copy = Slice(View(here)).Owned();
  here[0] = std::byte{9};
  EXPECT_EQ(Bytes(copy.bytes.begin(), copy.bytes.end()), Of({1, 2, 3}));

  const SharedBytes shared = Share(Of({4, 5, 6}));
  const Slice piece(View(*shared).subspan(1, 1), shared);
  EXPECT_EQ(piece.Owned().bytes.data(), shared->data() + 1);
  EXPECT_TRUE(Slice().Owned().bytes.empty());
}

}  // namespace
}  // namespace ringlet
