#include "tool/text/fill.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

TEST(FillTest, BreaksLinesBetweenWords) {
  EXPECT_EQ(Filled("one two three", 7), "one two\nthree\n");
  EXPECT_EQ(Filled("one two\nthree", 100), "one two three\n");
  EXPECT_EQ(Filled("endlessword a", 4), "endlessword\na\n");
  EXPECT_EQ(Filled("", 4), "");
}

TEST(FillTest, IndentsLinesAfterTheFirst) {
  EXPECT_EQ(Filled("* one two three", 9, "  "), "* one two\n  three\n");
}

TEST(FillTest, KeepsALinkOnOneLine) {
  EXPECT_EQ(Filled("see ([a b](c)), then", 6), "see\n([a b](c)),\nthen\n");
  EXPECT_EQ(Filled("[a] b [c](d e) f", 6), "[a] b\n[c](d e)\nf\n");
}

TEST(FillTest, CountsCharactersInsteadOfBytes) {
  EXPECT_EQ(Filled("\u00e4\u00e4 \u00e4", 4), "\u00e4\u00e4 \u00e4\n");
}

}  // namespace
}  // namespace ringlet::cli
