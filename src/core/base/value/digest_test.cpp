#include "base/value/digest.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringlet {
namespace {

// The published FNV-1a values of these texts. Another program applied splitmix64's mixer to them.
TEST(Digest, HasItsPublishedValues) {
  EXPECT_EQ(DigestOf(AsView("")), 0xf52a15e9a9b5e89bu);
  EXPECT_EQ(DigestOf(AsView("a")), 0x02c0bdbf481420f8u);
  EXPECT_EQ(DigestOf(AsView("foobar")), 0x404da9e3b74078c2u);
}

TEST(Digest, DoesNotDependOnTheSizesOfItsInputs) {
  EXPECT_EQ(Digest().Add("foo").Add("bar").value(), DigestOf(AsView("foobar")));
  Writer out;
  out.U64(0x0123456789abcdef);
  EXPECT_EQ(Digest().Add(std::uint64_t{0x0123456789abcdef}).value(), DigestOf(out.view()));
}

TEST(Digest, ChangesWithEveryFlippedBitAndSwappedBytes) {
  Bytes bytes(64, std::byte{0x5a});
  const std::uint64_t before = DigestOf(bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_NE(DigestOf(bytes), before) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
  }
  EXPECT_NE(DigestOf(AsView("ab")), DigestOf(AsView("ba")));
}

Bytes Counted(std::size_t bytes) {
  Bytes counted(bytes);
  for (std::size_t i = 0; i < bytes; ++i) counted[i] = static_cast<std::byte>(i * 7);
  return counted;
}

// Another program computed the values from the comment in digest.hpp.
TEST(BulkDigest, MatchesAnIndependentImplementation) {
  EXPECT_EQ(BulkDigestOf({}), 0x43e69fbcca8b8e2cu);
  EXPECT_EQ(BulkDigestOf(Counted(31)), 0x3be4dfe911ce71fdu);
  EXPECT_EQ(BulkDigestOf(Counted(100)), 0x746042d003c25aa8u);
}

TEST(BulkDigest, ChangesWithEveryFlippedBit) {
  for (const std::size_t size : {1u, 31u, 32u, 33u, 95u, 128u}) {
    Bytes bytes = Counted(size);
    const std::uint64_t before = BulkDigestOf(bytes);
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      EXPECT_NE(BulkDigestOf(bytes), before) << size << " bytes, bit " << bit;
      bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    }
  }
}

TEST(BulkDigest, ChangesWithSwappedWordsTwoFlipsAndLength) {
  const Bytes bytes = Counted(256);
  const std::uint64_t before = BulkDigestOf(bytes);
  for (std::size_t i = 0; i + 8 < 256; i += 8)
    for (std::size_t j = i + 8; j < 256; j += 8) {
      Bytes swapped = bytes;
      std::swap_ranges(swapped.begin() + static_cast<std::ptrdiff_t>(i),
                       swapped.begin() + static_cast<std::ptrdiff_t>(i + 8),
                       swapped.begin() + static_cast<std::ptrdiff_t>(j));
      EXPECT_NE(BulkDigestOf(swapped), before);
      Bytes flipped = bytes;  // a multiplication moves the highest bit to no other place
      flipped[i + 7] ^= std::byte{0x80};
      flipped[j + 7] ^= std::byte{0x80};
      EXPECT_NE(BulkDigestOf(flipped), before);
    }
  EXPECT_NE(BulkDigestOf(Bytes(32)), BulkDigestOf(Bytes(64)));
  EXPECT_NE(BulkDigestOf(Bytes(1)), BulkDigestOf(Bytes(2)));
}

}  // namespace
}  // namespace ringlet
