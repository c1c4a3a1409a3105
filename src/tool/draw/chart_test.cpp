#include "tool/draw/chart.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace ringlet::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

std::vector<std::string> WordsOf(const Drawing& drawing) {
  std::vector<std::string> words;
  for (const Words& one : drawing.words) words.push_back(one.text);
  return words;
}

const Polyline& Thickest(const Drawing& drawing, std::size_t points) {
  return *std::ranges::find_if(drawing.lines, [&](const Polyline& line) {
    return line.points.size() == points && line.width == 2;
  });
}

TEST(ChartTest, BothAxesAreLogarithmicWithUnitsAndALegend) {
  const Drawing drawing =
      DrawChart({"all_reduce, 4 ranks",
                 {{"ringlet", {{8, 1}, {1024, 10}, {131'072, 100}}}, {"gloo", {{8, 1000}}}}});
  for (const char* word : {"all_reduce, 4 ranks", "ringlet", "gloo", "8 B", "1 us", "1 ms", "size",
                           "time of one operation, median"})
    EXPECT_THAT(WordsOf(drawing), Contains(word));
  const Polyline& curve = Thickest(drawing, 3);
  const auto& points = curve.points;
  EXPECT_NEAR(points[1].first - points[0].first, points[2].first - points[1].first, 1e-6);
  EXPECT_NEAR(points[0].second - points[1].second, points[1].second - points[2].second, 1e-6);
  EXPECT_GT(points[0].second, points[1].second) << "more time is higher up";
}

TEST(ChartTest, AllShapesLieInside) {
  const Drawing drawing = DrawChart({"t", {{"a", {{3, 0.07}, {5e9, 9e7}}}, {"b", {{40, 5}}}}});
  for (const Polyline& line : drawing.lines)
    for (const auto& [x, y] : line.points) {
      EXPECT_TRUE(x >= 0 && x <= drawing.width) << x;
      EXPECT_TRUE(y >= 0 && y <= drawing.height) << y;
    }
  for (const Words& words : drawing.words) {
    const Extent extent = ExtentOf(words);
    EXPECT_TRUE(extent.left >= 0 && extent.right <= drawing.width) << words.text;
  }
}

TEST(ChartTest, LabelsOfAnAxisDoNotOverlap) {
  const Drawing drawing = DrawChart({"t", {{"a", {{1, 0.01}, {1099511627776.0, 1e8}}}}});
  for (std::size_t i = 0; i < drawing.words.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(ExtentOf(drawing.words[i]).Overlaps(ExtentOf(drawing.words[j])))
          << drawing.words[i].text << " and " << drawing.words[j].text;
}

TEST(ChartTest, AnAxisExtendsToTheEnclosingPowers) {
  const auto words = [](std::vector<std::pair<double, double>> points) {
    return WordsOf(DrawChart({"t", {{"a", std::move(points)}}}));
  };
  const auto exact = words({{8, 1}, {1024, 100}});
  EXPECT_THAT(exact, IsSupersetOf({"8 B", "1 KiB", "1 us", "10 us", "100 us"}));
  for (const char* beyond : {"4 B", "2 KiB", "0.1 us", "1 ms"})
    EXPECT_THAT(exact, Not(Contains(beyond))) << "values that are powers are the ends";
  const auto between = words({{9, 2}, {1000, 99}});
  EXPECT_THAT(between, IsSupersetOf({"8 B", "1 KiB", "1 us", "100 us"}));
  const auto one = words({{8, 1}});
  EXPECT_THAT(one, IsSupersetOf({"8 B", "16 B", "1 us", "10 us"}));
  for (const char* beyond : {"32 B", "100 us"}) EXPECT_THAT(one, Not(Contains(beyond)));
}

TEST(ChartTest, EachGridLineHasItsNumberOutsideTheCurves) {
  const Drawing drawing = DrawChart({"t", {{"a", {{8, 1}, {1024, 100}}}}});
  std::size_t upright = 0, level = 0;
  for (const Polyline& line : drawing.lines) {
    if (line.width != 0.5) continue;
    const auto [from, to] = std::pair(line.points.at(0), line.points.at(1));
    const bool is_upright = from.first == to.first;
    ++(is_upright ? upright : level);
    EXPECT_TRUE(std::ranges::any_of(drawing.words,
                                    [&](const Words& words) {
                                      const Extent extent = ExtentOf(words);
                                      if (is_upright)
                                        return words.x == from.first &&
                                               extent.top > std::max(from.second, to.second);
                                      return extent.right < std::min(from.first, to.first) &&
                                             extent.top < from.second &&
                                             from.second < extent.bottom;
                                    }))
        << "at " << from.first << ", " << from.second;
  }
  EXPECT_EQ(upright, 8u) << "8 B to 1 KiB";
  EXPECT_EQ(level, 3u) << "1 us to 100 us";
}

TEST(ChartTest, AMarkAtEachPointNamesItsValues) {
  const Drawing drawing = DrawChart({"t", {{"a", {{8, 1}, {64, 20}, {128, 30}}}}});
  const auto& points = Thickest(drawing, 3).points;
  std::vector<std::string> titles;
  for (const Polyline& line : drawing.lines) {
    if (line.title.empty()) continue;
    const auto& [x, y] = points.at(titles.size());
    titles.push_back(line.title);
    const auto [from, to] = std::pair(line.points.at(0), line.points.at(1));
    EXPECT_TRUE(from.first < x && x < to.first && from.second == y && to.second == y);
    EXPECT_NEAR(to.first - from.first, line.width, 1e-6) << "a square";
  }
  EXPECT_THAT(titles, ElementsAre("a, 8 B: 1 us", "a, 64 B: 20 us", "a, 128 B: 30 us"));
}

TEST(ChartTest, ColorAndDashesDistinguishManyCurves) {
  Chart chart{"t", std::vector<Curve>(14, {"a", {{8, 1}, {64, 2}}})};
  std::set<std::pair<std::string, bool>> looks;
  for (const Polyline& line : DrawChart(chart).lines)
    if (line.width == 3) {  // the legend
      EXPECT_EQ(line.dashed, looks.size() >= 7) << "dashes where colors come again";
      looks.emplace(line.color, line.dashed);
    }
  EXPECT_EQ(looks.size(), 14u);
}

TEST(ChartTest, TheLegendHasALineAndANameForEachCurve) {
  const Drawing drawing =
      DrawChart({"t", {{"one", {{8, 1}, {64, 20}}}, {"another", {{8, 2}, {64, 2}}}}});
  double above = 0;
  for (const char* name : {"one", "another"}) {
    const auto words = std::ranges::find(drawing.words, name, &Words::text);
    ASSERT_NE(words, drawing.words.end());
    const Extent extent = ExtentOf(*words);
    const auto sample = std::ranges::find_if(drawing.lines, [&](const Polyline& line) {
      const auto [from, to] = std::pair(line.points.front(), line.points.back());
      return line.width == 3 && from.second == to.second && from.second > extent.top &&
             from.second < extent.bottom;
    });
    ASSERT_NE(sample, drawing.lines.end()) << name;
    EXPECT_LT(sample->points[0].first, sample->points[1].first);
    EXPECT_LT(sample->points[1].first, extent.left);
    EXPECT_GT(sample->points[0].first, Thickest(drawing, 2).points.back().first);
    EXPECT_GT(extent.top, above) << "each below the one before";
    above = extent.bottom;
  }
}

TEST(ChartTest, ASinglePointGivesAChart) {
  EXPECT_FALSE(DrawChart({"t", {{"a", {{8, 1}}}}}).lines.empty());
}

TEST(ChartTest, NumbersHaveUnits) {
  EXPECT_EQ(BytesText(8), "8 B");
  EXPECT_EQ(BytesText(65'536), "64 KiB");
  EXPECT_EQ(BytesText(1.5 * 1024 * 1024), "1.5 MiB");
  EXPECT_EQ(MicrosecondsText(0.126), "0.126 us");
  EXPECT_EQ(MicrosecondsText(12'345), "12.3 ms");
  EXPECT_EQ(MicrosecondsText(2e6), "2 s");
  EXPECT_EQ(BytesText(1023), "1023 B");
  EXPECT_EQ(BytesText(1024), "1 KiB");
  EXPECT_EQ(BytesText(4096.0 * (std::uint64_t{1} << 40)), "4096 TiB");
  EXPECT_EQ(MicrosecondsText(999.4), "999 us");
  EXPECT_EQ(MicrosecondsText(999.5), "1 ms");
  EXPECT_EQ(MicrosecondsText(999'400), "999 ms");
  EXPECT_EQ(MicrosecondsText(999'500), "1 s");
}

}  // namespace
}  // namespace ringlet::cli
