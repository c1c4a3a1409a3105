#include "tool/draw/drawing.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(DrawingTest, BoxesLinesAndWordsBecomeSvg) {
  Drawing drawing;
  drawing.width = 100;
  drawing.height = 50;
  drawing.boxes.push_back({1, 2, 30, 40, Paint::kGpu, "GPU <0>"});
  drawing.lines.push_back({{{0, 0}, {50, 0}, {50, 30}}, 3, Paint::kNvLine, {}});
  drawing.words.push_back({10, 20, "a & b", 11, Anchor::kMiddle, true, false});
  const std::string svg = ToSvg(drawing, false);
  EXPECT_THAT(svg, HasSubstr("width=\"100\" height=\"50\" viewBox=\"0 0 100 50\""));
  EXPECT_THAT(svg, HasSubstr("<title>GPU &lt;0&gt;</title></rect>"));
  EXPECT_THAT(svg, HasSubstr("d=\"M0 0L44 0Q50 0 50 6L50 30\" fill=\"none\""));
  EXPECT_THAT(svg, HasSubstr("stroke-width=\"3\"/>"));
  EXPECT_THAT(svg, HasSubstr("text-anchor=\"middle\" font-weight=\"bold\">a &amp; b</text>"));
  EXPECT_NE(svg, ToSvg(drawing, true));
}

TEST(DrawingTest, WordsOnALineHaveABackground) {
  Drawing drawing;
  drawing.words.push_back({50, 20, "abcd", 10, Anchor::kMiddle, false, true});
  const std::string svg = ToSvg(drawing, false);
  // A letter is 6.02 wide at this size.
  const auto at = svg.find("<rect x=\"37\" y=\"12.2\" width=\"26.1\" height=\"10\"");
  ASSERT_NE(at, std::string::npos) << svg;
  EXPECT_LT(at, svg.find(">abcd<")) << "not before them";
  drawing.words[0].on_line = false;
  EXPECT_LT(ToSvg(drawing, false).size(), svg.size());
}

TEST(DrawingTest, DashesAndAnchorsBecomeSvgAttributes) {
  Drawing drawing;
  drawing.lines.push_back({.points = {{0, 0}, {9, 0}}, .color = "#123456", .dashed = true});
  drawing.lines.push_back({.points = {{0, 0}, {9, 0}}, .title = "a title"});
  drawing.words.push_back({0, 0, "from here", 11, Anchor::kStart, false, false});
  drawing.words.push_back({0, 0, "to here", 11, Anchor::kEnd, false, false});
  const std::string svg = ToSvg(drawing, false);
  EXPECT_THAT(svg, HasSubstr("stroke=\"#123456\""));
  EXPECT_THAT(svg, testing::ContainsRegex("#123456[^\n]*stroke-dasharray"));
  EXPECT_THAT(svg, HasSubstr("><title>a title</title></path>"));
  EXPECT_THAT(svg, testing::ContainsRegex("text-anchor=\"start\"[^\n]*>from here<"));
  EXPECT_THAT(svg, testing::ContainsRegex("text-anchor=\"end\"[^\n]*>to here<"));
  EXPECT_THAT(svg, testing::Not(HasSubstr("bold")));
}

TEST(DrawingTest, RemovesControlCharacters) {
  Drawing drawing;
  drawing.words.push_back({0, 0, "a\x01\x1b", 11, Anchor::kStart, false, false});
  EXPECT_THAT(ToSvg(drawing, false), HasSubstr(">a  </text>"));
}

TEST(DrawingTest, FitsTextAndComputesItsExtent) {
  EXPECT_EQ(Fitted("short", 10, 100), "short");
  EXPECT_EQ(Fitted("something long", 10, 42.2), "somet..");
  EXPECT_LE(TextWidth(Fitted("something long", 10, 42.2), 10), 42.2);
  const Words middle{50, 20, "abcd", 10, Anchor::kMiddle, false, false};
  Words right = middle;
  right.x = 50 + TextWidth("abcd", 10) / 2 - 1;
  right.anchor = Anchor::kStart;
  EXPECT_TRUE(ExtentOf(middle).Overlaps(ExtentOf(right)));
  right.x += 2;
  EXPECT_FALSE(ExtentOf(middle).Overlaps(ExtentOf(right)));
}

TEST(DrawingTest, APageMarksNodesEndsAndGroups) {
  Drawing drawing;
  drawing.boxes.push_back(
      {.width = 10, .height = 10, .paint = Paint::kGpu, .title = "A\"", .node = 7});
  drawing.boxes.push_back({.width = 10, .height = 10, .paint = Paint::kSwitch, .node = 3});
  drawing.lines.push_back(
      {.points = {{0, 0}, {9, 9}}, .ends = std::pair(3u, 7u), .group = "ring 1"});
  const std::string page = ToPageSvg(drawing);
  EXPECT_THAT(page,
              HasSubstr("data-node=\"7\" tabindex=\"0\" role=\"button\" aria-label=\"A&quot;\""));
  EXPECT_THAT(page, HasSubstr("data-node=\"3\"/>")) << "a switch is not picked";
  EXPECT_THAT(page, HasSubstr("data-ends=\"3 7\" data-group=\"ring 1\""));
  EXPECT_THAT(page, HasSubstr("fill=\"var(--gpu)\""));
  EXPECT_THAT(ToSvg(drawing, false), testing::Not(HasSubstr("data-")));
}

TEST(DrawingTest, AnOutlineIsThickAndMayBeDashed) {
  Drawing drawing;
  drawing.boxes.push_back({.width = 10, .height = 10, .outline = "#e03131"});
  EXPECT_THAT(ToSvg(drawing, false), HasSubstr("stroke=\"#e03131\" stroke-width=\"3\"/>"));
  drawing.boxes[0].dashed = true;
  EXPECT_THAT(ToSvg(drawing, false), HasSubstr("stroke-width=\"3\" stroke-dasharray="));
}

}  // namespace
}  // namespace ringlet::cli
