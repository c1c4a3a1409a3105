#include "tool/run/lines.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LineCutterTest, LinesAreWholeHoweverTheyArrive) {
  LineCutter cutter;
  EXPECT_THAT(cutter.Push("a\nb"), ElementsAre("a"));
  EXPECT_THAT(cutter.Push("c"), IsEmpty());
  EXPECT_THAT(cutter.Push("\n\nd\n"), ElementsAre("bc", "", "d"));
  EXPECT_EQ(cutter.Finish(), "");
}

TEST(LineCutterTest, KeepsALastLineWithoutNewline) {
  LineCutter cutter;
  EXPECT_THAT(cutter.Push("a\nrest"), ElementsAre("a"));
  EXPECT_EQ(cutter.Finish(), "rest");
  EXPECT_EQ(cutter.Finish(), "");
}

TEST(LineCutterTest, SplitsAnEndlessLineIntoPieces) {
  LineCutter cutter;
  const std::string piece(LineCutter::kLineBytesMax, 'x');
  EXPECT_THAT(cutter.Push(piece + piece + "y"), ElementsAre(piece, piece));
  EXPECT_THAT(cutter.Push("\n"), ElementsAre("y"));
}

TEST(LineCutterTest, ALineOfTheMaximumLengthIsOneLine) {
  LineCutter cutter;
  const std::string piece(LineCutter::kLineBytesMax, 'x');
  EXPECT_THAT(cutter.Push(piece + "\nz\n"), ElementsAre(piece, "z"));
  EXPECT_THAT(cutter.Push(piece), ElementsAre(piece));
}

}  // namespace
}  // namespace ringlet::cli
