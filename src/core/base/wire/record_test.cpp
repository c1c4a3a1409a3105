#include "base/wire/record.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace ringlet {
namespace {

Secret Key(int first) {
  Secret key;
  for (std::size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<std::byte>(static_cast<std::size_t>(first) + i);
  return key;
}

std::string HexOfRecord(View bytes) {
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return text;
}

std::string Opened(RecordOpener& opener, View sealed) {
  const auto plain = opener.Push(sealed);
  return plain.ok() ? std::string(AsText(*plain)) : "(" + plain.error().message + ")";
}

const std::string kBroken = "(a record that was changed on its way or replayed)";

// Computed by another program from RFC 8439 and the text of docs/reference/wire.md.
TEST(Record, HasTheDocumentedBytes) {
  RecordSealer sealer(Key(0));
  EXPECT_EQ(HexOfRecord(sealer.Seal(AsView("one"))),
            "0300000077d62712e48333c52f4c2441ac4137bbe7d8f7");
  EXPECT_EQ(HexOfRecord(sealer.Seal(AsView("two more"))),
            "08000000eb209c7fd845dd7d210dcf0439b44a09a9f169750001cd63");
  EXPECT_TRUE(sealer.Seal({}).empty());
}

TEST(Record, OpensInPiecesOfAnySize) {
  for (const std::size_t piece : {1u, 7u, 23u, 1000u}) {
    RecordSealer sealer(Key(0));
    RecordOpener opener(Key(0));
    Bytes sealed;
    for (const char* const text : {"one ", "two ", "three"}) {
      const Bytes record = sealer.Seal(AsView(text));
      sealed.insert(sealed.end(), record.begin(), record.end());
    }
    std::string plain;
    for (View rest = sealed; !rest.empty();) {
      plain += Opened(opener, rest.first(std::min(piece, rest.size())));
      rest = rest.subspan(std::min(piece, rest.size()));
    }
    EXPECT_EQ(plain, "one two three") << "pieces of " << piece;
    EXPECT_EQ(opener.buffered_bytes(), 0u);
  }
}

TEST(Record, RoundTripsSizesAroundARecord) {
  for (const std::size_t size : {std::size_t{1}, kRecordBytesMax - 1, kRecordBytesMax,
                                 kRecordBytesMax + 1, 2 * kRecordBytesMax + 1}) {
    RecordSealer sealer(Key(0));
    RecordOpener opener(Key(0));
    const Bytes plain(size, std::byte{7});
    const Bytes sealed = sealer.Seal(plain);
    EXPECT_EQ(sealed.size(), size + (size / kRecordBytesMax + (size % kRecordBytesMax != 0)) *
                                        kRecordOverheadBytes);
    EXPECT_EQ(opener.Push(sealed).value(), plain) << size;
  }
}

TEST(Record, LongDataAreCutIntoBoundedRecords) {
  RecordSealer sealer(Key(0));
  RecordOpener opener(Key(0));
  const Bytes much(3 * kRecordBytesMax + 5, std::byte{7});
  const Bytes sealed = sealer.Seal(much);
  EXPECT_EQ(sealed.size(), much.size() + 4 * kRecordOverheadBytes);
  const auto plain = opener.Push(sealed);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(*plain, much);
}

TEST(Record, FailsOnEveryFlippedBitAndRefusesLaterRecords) {
  RecordSealer sealer(Key(0));
  const Bytes sealed = sealer.Seal(AsView("as it was")), next = sealer.Seal(AsView("next"));
  for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
    RecordOpener opener(Key(0));
    Bytes flipped = sealed;
    flipped[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    const std::string first = Opened(opener, flipped);
    // A record with a larger claimed length waits for more data in vain, up to the bound.
    if (bit < 32 && first.empty()) {
      EXPECT_EQ(Opened(opener, Bytes(kRecordBytesMax, std::byte{0})), kBroken) << "bit " << bit;
      continue;
    }
    EXPECT_EQ(first, kBroken) << "bit " << bit;
    EXPECT_EQ(Opened(opener, next), kBroken) << "bit " << bit;
    EXPECT_EQ(Opened(opener, sealed), kBroken) << "bit " << bit;
  }
}

TEST(Record, RefusesRepeatedSkippedAndSwappedRecords) {
  RecordSealer sealer(Key(0));
  const Bytes one = sealer.Seal(AsView("one")), two = sealer.Seal(AsView("two"));
  RecordOpener repeated(Key(0)), skipped(Key(0)), swapped(Key(0));
  EXPECT_EQ(Opened(repeated, one), "one");
  EXPECT_EQ(Opened(repeated, one), kBroken);
  EXPECT_EQ(Opened(skipped, two), kBroken);
  Bytes both = two;
  both.insert(both.end(), one.begin(), one.end());
  EXPECT_EQ(Opened(swapped, both), kBroken);
}

TEST(Record, DoesNotOpenWithAnotherKey) {
  RecordSealer sealer(Key(0));
  RecordOpener other(Key(1));
  EXPECT_EQ(Opened(other, sealer.Seal(AsView("one"))), kBroken);
}

TEST(Record, LengthsBeyondTheBoundAreRefusedAtOnce) {
  Writer long_one;
  long_one.U32(kRecordBytesMax + 1);
  RecordOpener too_long(Key(0)), empty(Key(0));
  EXPECT_EQ(Opened(too_long, long_one.view()), kBroken);
  EXPECT_EQ(Opened(empty, Bytes(4)), kBroken) << "no record is empty";
}

TEST(Record, ATruncatedRecordYieldsNoData) {
  RecordSealer sealer(Key(0));
  const Bytes sealed = sealer.Seal(AsView("the whole of it"));
  RecordOpener opener(Key(0));
  EXPECT_EQ(Opened(opener, View(sealed).first(sealed.size() - 1)), "");
  EXPECT_EQ(opener.buffered_bytes(), sealed.size() - 1);
}

}  // namespace
}  // namespace ringlet
