#include "base/value/text.hpp"

#include <gmock/gmock.h>

namespace ringlet {
namespace {

TEST(TextTest, NumbersInNamesSortByValue) {
  EXPECT_TRUE(IsNaturallyBefore("mlx5_2", "mlx5_10"));
  EXPECT_FALSE(IsNaturallyBefore("mlx5_10", "mlx5_2"));
  EXPECT_TRUE(IsNaturallyBefore("host", "host-1"));
  EXPECT_TRUE(IsNaturallyBefore("a1b2", "a1b10"));
  EXPECT_FALSE(IsNaturallyBefore("a1", "a1"));
}

TEST(TextTest, UnsignedNumbersAreDecimalHexadecimalOrOctal) {
  EXPECT_EQ(ParseUnsigned("0"), 0u);
  EXPECT_EQ(ParseUnsigned("262144"), 262144u);
  EXPECT_EQ(ParseUnsigned("0x40000"), 262144u);
  EXPECT_EQ(ParseUnsigned("0XfF"), 255u);
  EXPECT_EQ(ParseUnsigned("010"), 8u);
  EXPECT_EQ(ParseUnsigned("0xffffffffffffffff"), ~std::uint64_t{0});
}

TEST(TextTest, AnInvalidNumberIsRefused) {
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "0x", "08", "1e3", "18446744073709551616"})
    EXPECT_EQ(ParseUnsigned(text), std::nullopt) << text;
  EXPECT_EQ(ParseDecimal("007"), 7u);
  EXPECT_EQ(ParseDecimal("0x7"), std::nullopt);
}

TEST(TextTest, SplitKeepsEmptyParts) {
  EXPECT_THAT(Split("a,,b", ','), testing::ElementsAre("a", "", "b"));
  EXPECT_THAT(Split("", ','), testing::ElementsAre(""));
}

TEST(TextTest, TrimRemovesSpaceAtBothEndsOnly) {
  EXPECT_EQ(Trim(" \t a b \n"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
}

TEST(TextTest, ComparisonIgnoresCaseButNotLength) {
  EXPECT_TRUE(EqualIgnoringCase("af_inet6", "AF_INET6"));
  EXPECT_FALSE(EqualIgnoringCase("AF_INET", "AF_INET6"));
}

TEST(TextTest, EditDistanceCountsInsertionsRemovalsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("abc", "abc"), 0u);
  EXPECT_EQ(EditDistance("shwo", "show"), 1u);
  EXPECT_EQ(EditDistance("ab", "ba"), 1u);
  EXPECT_EQ(EditDistance("abcd", "badc"), 2u);
}

TEST(TextTest, PrintableEscapesControlCharactersAndTruncates) {
  EXPECT_EQ(Printable("a\nb\tc\x1b[2J", 100), "a\\nb\\tc\\x1b[2J");
  EXPECT_EQ(Printable("abcdefgh", 8), "abcdefgh");
  EXPECT_EQ(Printable("abcdefghi", 8), "abcde...");
  EXPECT_EQ(Printable("abcdefghi", 2), "..");
}

TEST(TextTest, QuotedIsJson) {
  EXPECT_EQ(Quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
}

TEST(EscapedXml, KeepsEveryCharacter) {
  EXPECT_EQ(EscapedXml("a<b> & \"c\"\n"), "a&lt;b&gt; &amp; &quot;c&quot;&#10;");
}

}  // namespace
}  // namespace ringlet
