#include "tool/text/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/value/text.hpp"
#include "tool/results/table.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

TEST(TerminalTest, ColorsOnlyTerminalsThatAcceptThem) {
  EXPECT_TRUE(WantsColors({{"TERM", "xterm"}}));
  EXPECT_TRUE(WantsColors({{"NO_COLOR", ""}}));
  EXPECT_FALSE(WantsColors({{"NO_COLOR", "1"}, {"TERM", "xterm"}}));
  EXPECT_FALSE(WantsColors({{"TERM", "dumb"}}));
  std::FILE* const file = std::tmpfile();
  EXPECT_FALSE(HasColors(file));
  EXPECT_EQ(ColumnsOf(file), 0u);
  std::fclose(file);
  EXPECT_EQ(Highlighted("x", false), "x");
  EXPECT_EQ(Highlighted("x", true), "\x1b[1;31mx\x1b[0m");
}

TEST(TerminalTest, LongLinesEndWithAnEllipsis) {
  EXPECT_EQ(Fitted("123456\n12345\n\n", 5), "1234\u2026\n12345\n\n");
  EXPECT_EQ(Fitted("123456", 0), "123456");
  EXPECT_EQ(Fitted("\u00e4\u00e4\u00e4", 3), "\u00e4\u00e4\u00e4");
  EXPECT_EQ(Fitted("\u00e4\u00e4\u00e4", 2), "\u00e4\u2026");
}

/// Replaces standard output by a terminal of this width until the end of the scope.
class OutputTerminalForTest {
 public:
  explicit OutputTerminalForTest(unsigned short columns)
      : master_(::posix_openpt(O_RDWR | O_NOCTTY)), before_(::dup(STDOUT_FILENO)) {
    std::fflush(stdout);
    ::grantpt(master_);
    ::unlockpt(master_);
    const int slave = ::open(::ptsname(master_), O_RDWR | O_NOCTTY);
    winsize size{};
    size.ws_col = columns;
    EXPECT_EQ(::ioctl(slave, TIOCSWINSZ, &size), 0);
    ::dup2(slave, STDOUT_FILENO);
    ::close(slave);
  }
  OutputTerminalForTest(const OutputTerminalForTest&) = delete;
  OutputTerminalForTest& operator=(const OutputTerminalForTest&) = delete;
  ~OutputTerminalForTest() {
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
    ::close(master_);
  }
  /// Returns the written text, which is limited to a terminal's buffer of 4 KiB.
  std::string Read() {
    std::fflush(stdout);
    std::string text(8192, '\0');
    const ssize_t got = ::read(master_, text.data(), text.size());
    return text.substr(0, got < 0 ? 0 : static_cast<std::size_t>(got));
  }

 private:
  int master_, before_;
};

TEST(TerminalTest, TablesOfCommandsFitTheTerminal) {
  const std::string file = SourceFile("test/fixtures/topo-vectors/gpu2-nic2.xml");
  constexpr std::size_t kColumns = 40;
  for (const std::vector<std::string>& command : {std::vector<std::string>{"topo", "show", file},
                                                  {"topo", "complete", "--list"},
                                                  {"topo", "matrix", file},
                                                  {"plan", file},
                                                  {"sim", "init", "-n", "2"}}) {
    OutputTerminalForTest terminal(kColumns);
    ASSERT_EQ(RunTool(command), kExitDone);
    const std::string text = terminal.Read();
    EXPECT_NE(text.find("\u2026"), std::string::npos) << command.at(1) << " is cut somewhere";
    for (std::string_view line : Split(text, '\n')) {
      const auto bytes = static_cast<std::size_t>(std::ranges::count_if(line, [](char byte) {
        return byte != '\r' && (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U;
      }));
      EXPECT_LE(bytes, kColumns) << command.at(1) << ": " << line;
    }
  }
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

TEST_F(NarrowTable, WideTerminalsShowAllColumns) {
  EXPECT_EQ(NarrowedRows(text_, 0, false), text_);
  EXPECT_EQ(NarrowedRows(text_, 135, false), text_);
}

TEST_F(NarrowTable, RemovesAColumnOfEqualValuesFirst) {
  const std::string narrow = NarrowedRows(text_, 100, false);
  EXPECT_EQ(narrow.find("float"), std::string::npos);
  EXPECT_NE(narrow.find("3.00"), std::string::npos);
  EXPECT_LE(Longest(narrow), 100u);
}

TEST_F(NarrowTable, RemovesTheSecondPlacementNext) {
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
