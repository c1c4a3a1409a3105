#include "base/digest.hpp"

#include <gtest/gtest.h>

namespace ringlet {
namespace {

// The published FNV-1a values of these texts, put through splitmix64's mixer by another program.
TEST(Digest, IsTheSameOnEveryMachineForEver) {
  EXPECT_EQ(DigestOf(AsView("")), 0xf52a15e9a9b5e89bu);
  EXPECT_EQ(DigestOf(AsView("a")), 0x02c0bdbf481420f8u);
  EXPECT_EQ(DigestOf(AsView("foobar")), 0x404da9e3b74078c2u);
}

TEST(Digest, DoesNotDependOnHowItWasFed) {
  EXPECT_EQ(Digest().Add("foo").Add("bar").value(), DigestOf(AsView("foobar")));
  Writer out;
  out.U64(0x0123456789abcdef);
  EXPECT_EQ(Digest().Add(std::uint64_t{0x0123456789abcdef}).value(), DigestOf(out.view()));
}

TEST(Digest, NoticesEveryFlippedBitAndSwappedBytes) {
  Bytes bytes(64, std::byte{0x5a});
  const std::uint64_t before = DigestOf(bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_NE(DigestOf(bytes), before) << "bit " << bit;
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
  }
  EXPECT_NE(DigestOf(AsView("ab")), DigestOf(AsView("ba")));
}

}  // namespace
}  // namespace ringlet
