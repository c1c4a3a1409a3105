#include "bootstrap/difference.hpp"

#include <gtest/gtest.h>

#include "base/value/prng.hpp"

namespace ringlet::bootstrap {
namespace {

Bytes RandomBytes(Prng& prng, std::size_t size) {
  Bytes bytes(size);
  for (std::byte& one : bytes) one = static_cast<std::byte>(prng.Next());
  return bytes;
}

TEST(Difference, RestoresTheOriginalBytes) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Prng prng(seed);
    const Bytes base = RandomBytes(prng, prng.Below(600));
    Bytes bytes = prng.Chance(0.2) ? RandomBytes(prng, prng.Below(600)) : base;
    bytes.resize(bytes.size() + prng.Below(3));
    for (std::uint64_t i = prng.Below(12); i > 0 && !bytes.empty(); --i)
      bytes[prng.Below(bytes.size())] = static_cast<std::byte>(prng.Next());
    const Bytes difference = DifferenceOf(base, bytes);
    EXPECT_LE(difference.size(), bytes.size() * 5 / 4 + 8) << "seed " << seed;
    const auto again = ApplyDifference(base, difference, 65535);
    ASSERT_TRUE(again.ok()) << "seed " << seed;
    ASSERT_EQ(*again, bytes) << "seed " << seed;
  }
}

TEST(Difference, IsSmallForSimilarBytes) {
  const Bytes base(400, std::byte{7});
  Bytes bytes = base;
  EXPECT_EQ(DifferenceOf(base, bytes).size(), 2u);
  bytes[10] = bytes[11] = std::byte{1};
  bytes[390] = std::byte{2};
  EXPECT_EQ(DifferenceOf(base, bytes).size(), 2u + 4 + 2 + 3) << "a pause of 378 bytes is two runs";
}

TEST(Difference, RefusesMalformedDifferences) {
  const Bytes base(10, std::byte{1});
  const auto bad = [&](std::initializer_list<int> values, std::size_t bytes_max = 100) {
    Bytes bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    return !ApplyDifference(base, bytes, bytes_max).ok();
  };
  EXPECT_TRUE(bad({}));
  EXPECT_TRUE(bad({5}));
  EXPECT_TRUE(bad({101, 0})) << "too long";
  EXPECT_TRUE(bad({5, 0, 0}));
  EXPECT_TRUE(bad({5, 0, 0, 2, 1})) << "cut short";
  EXPECT_TRUE(bad({5, 0, 4, 2, 1, 1})) << "beyond the end";
  EXPECT_TRUE(bad({5, 0, 9, 1, 1})) << "starts beyond the end";
  EXPECT_TRUE(bad({5, 0, 9, 0})) << "an empty run beyond the end";
  EXPECT_FALSE(bad({5, 0, 3, 2, 1, 1}));
}

}  // namespace
}  // namespace ringlet::bootstrap
