#include "topology/xml/nccl_number.hpp"

#include <gtest/gtest.h>

namespace ringlet::topology {
namespace {

TEST(NcclNumberTest, ParsesNumbersLikeNccl) {
  EXPECT_EQ(ParseNcclNumber("12").value, 12);
  EXPECT_EQ(ParseNcclNumber("0x10").value, 16);
  EXPECT_EQ(ParseNcclNumber("-1").value, -1);
  EXPECT_EQ(ParseNcclNumber("010").value, 8);
  EXPECT_EQ(ParseNcclNumber("12abc").value, 12);
  EXPECT_EQ(ParseNcclNumber("abc").value, 0);
  EXPECT_EQ(ParseNcclNumber("99999999999999999999").value, std::int64_t{1} << 53);
}

TEST(NcclNumberTest, ReportsTrailingTextAndOctalNumbers) {
  EXPECT_TRUE(ParseNcclNumber("12").whole);
  EXPECT_TRUE(ParseNcclNumber("0").whole);
  for (const char* text : {"", "abc", "12abc", "12 ", "0x", "-", "1.5", "09"})
    EXPECT_FALSE(ParseNcclNumber(text).whole) << text;
  EXPECT_TRUE(ParseNcclNumber("010").octal);
  EXPECT_TRUE(ParseNcclNumber("09").octal);
  EXPECT_FALSE(ParseNcclNumber("07").octal);
  EXPECT_FALSE(ParseNcclNumber("0").octal);
}

TEST(NcclNumberTest, HexNeedsNoPrefix) {
  EXPECT_EQ(ParseHex64("0x94ecb6d613fd2af1"), 0x94ecb6d613fd2af1u);
  EXPECT_EQ(ParseHex64("ff"), 0xffu);
  for (const char* text : {"", "0x", "0x12345678901234567", "12g", "-1"})
    EXPECT_EQ(ParseHex64(text), std::nullopt) << text;
}

TEST(NcclNumberTest, ConvertsMicrosecondsToNanoseconds) {
  EXPECT_EQ(ParseMicroseconds("0.000000"), 0u);
  EXPECT_EQ(ParseMicroseconds("1.5"), 1500u);
  EXPECT_EQ(ParseMicroseconds("3"), 3000u);
  EXPECT_EQ(ParseMicroseconds("0.0019"), 1u);
  EXPECT_EQ(ParseMicroseconds("4000000"), 4'000'000'000u);
  for (const char* text : {"", ".5", "-1", "1e3", "4000001", "99999999999999999999", "1.x"})
    EXPECT_EQ(ParseMicroseconds(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ringlet::topology
