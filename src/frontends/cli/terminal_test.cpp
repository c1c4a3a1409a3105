#include "frontends/cli/terminal.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "frontends/cli/table.hpp"

namespace ringlet::cli {
namespace {

TEST(TerminalTest, ColorsAreForTerminalsThatWantThem) {
  EXPECT_TRUE(WantsColors({{"TERM", "xterm"}}));
  EXPECT_TRUE(WantsColors({{"NO_COLOR", ""}}));
  EXPECT_FALSE(WantsColors({{"NO_COLOR", "1"}, {"TERM", "xterm"}}));
  EXPECT_FALSE(WantsColors({{"TERM", "dumb"}}));
  std::FILE* const file = std::tmpfile();
  EXPECT_FALSE(HasColors(file));
  EXPECT_EQ(ColumnsOf(file), 0u);
  std::fclose(file);
  EXPECT_EQ(Alarming("x", false), "x");
  EXPECT_EQ(Alarming("x", true), "\x1b[1;31mx\x1b[0m");
}

TEST(TerminalTest, LongLinesEndWithAnEllipsis) {
  EXPECT_EQ(Fitted("123456\n12345\n\n", 5), "1234\u2026\n12345\n\n");
  EXPECT_EQ(Fitted("123456", 0), "123456");
  EXPECT_EQ(Fitted("\u00e4\u00e4\u00e4", 3), "\u00e4\u00e4\u00e4");
  EXPECT_EQ(Fitted("\u00e4\u00e4\u00e4", 2), "\u00e4\u2026");
}

class NarrowTable : public testing::Test {
 protected:
  BenchReport report_{.ranks = 4};
  Row row_{.bytes = 64,
           .count = 16,
           .out_of_place = Measurement{.time_us = 1, .p99_us = 7},
           .in_place = Measurement{.time_us = 3}};
  std::string text_ = RowText(row_, report_);

  static std::size_t Longest(const std::string& text) {
    std::size_t longest = 0, begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         begin = end + 1, end = text.find('\n', begin))
      longest = std::max(longest, end - begin);
    return longest;
  }
};

TEST_F(NarrowTable, WideTerminalsShowAll) {
  EXPECT_EQ(NarrowedRows(text_, 0, false), text_);
  EXPECT_EQ(NarrowedRows(text_, 135, false), text_);
}

TEST_F(NarrowTable, WhatIsTheSameInEachRowGoesFirst) {
  const std::string narrow = NarrowedRows(text_, 100, false);
  EXPECT_EQ(narrow.find("float"), std::string::npos);
  EXPECT_NE(narrow.find("3.00"), std::string::npos);
  EXPECT_LE(Longest(narrow), 100u);
}

TEST_F(NarrowTable, ThenTheSecondPlacement) {
  const std::string narrow = NarrowedRows(text_, 80, false);
  EXPECT_EQ(narrow.find("3.00"), std::string::npos);
  EXPECT_NE(narrow.find("1.00"), std::string::npos);
  EXPECT_NE(narrow.find("7.00"), std::string::npos);
  EXPECT_LE(Longest(narrow), 80u);
  EXPECT_NE(NarrowedRows(text_, 80, true).find("3.00"), std::string::npos);
}

TEST_F(NarrowTable, TheHeadFitsTheRows) {
  const std::string head = HeadText({.ranks = 4, .links = "shm", .check = true});
  for (const std::size_t columns : {80u, 100u}) {
    const std::string narrow = NarrowedHead(head, columns, false);
    EXPECT_LE(Longest(narrow), columns);
    EXPECT_EQ(Longest(narrow.substr(narrow.find("\n#\n") + 3)),
              Longest(NarrowedRows(text_, columns, false)));
  }
  EXPECT_EQ(NarrowedHead(head, 0, false), head);
}

}  // namespace
}  // namespace ringlet::cli
