#include "tool/draw/topo_draw.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(TopoDrawTest, WritesSvgToStandardOutputOrAFile) {
  const std::string file = Fixture("topo-vectors/nvswitch8-sm90.xml");
  const ToolRun printed = RunCommand({"topo", "draw", "--title", "A & B", file});
  EXPECT_EQ(printed.status, 0) << printed.errors;
  EXPECT_THAT(printed.output, StartsWith("<svg "));
  EXPECT_THAT(printed.output, HasSubstr(">A &amp; B</text>"));
  const std::string path = testing::TempDir() + "ringlet_draw_test.svg";
  const ToolRun written = RunCommand({"topo", "draw", "--title", "A & B", file, "-o", path});
  EXPECT_EQ(written.status, 0) << written.errors;
  EXPECT_EQ(Contents(path), printed.output);
  EXPECT_NE(RunCommand({"topo", "draw", "--title", "A & B", "--dark", file}).output,
            printed.output);
  std::filesystem::remove(path);
}

TEST(TopoDrawTest, PngNeedsAConverterOrLeavesTheSvg) {
  const std::string path = testing::TempDir() + "ringlet_draw_test.png";
  const ToolRun ran =
      RunCommand({"topo", "draw", Fixture("topo-vectors/pcie4-1nic.xml"), "-o", path});
  if (ran.status == 0) {
    EXPECT_THAT(Contents(path), StartsWith("\x89PNG"));
    EXPECT_FALSE(std::filesystem::exists(path + ".svg"));
  } else {
    EXPECT_THAT(ran.errors, HasSubstr("rsvg-convert, inkscape or ImageMagick"));
    EXPECT_THAT(Contents(path + ".svg"), StartsWith("<svg "));
  }
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".svg");
}

TEST(TopoDrawTest, NamesAnUnwritableFile) {
  const ToolRun ran = RunCommand({"topo", "draw", "-o", "/nowhere/x.svg"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.errors, HasSubstr("/nowhere/x.svg cannot be written"));
}

}  // namespace
}  // namespace ringlet::cli
