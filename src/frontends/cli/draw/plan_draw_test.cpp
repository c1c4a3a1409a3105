#include "frontends/cli/draw/plan_draw.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "frontends/cli/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(PlanDrawTest, EveryChannelIsALineOfItsColorThroughItsDevices) {
  PlanRequest request;
  request.machine.source.file = Fixture("topo-vectors/nvswitch8-sm90.xml");
  request.hosts = 4;
  const PlanView view = MakePlanView(request, {}).value();
  const Drawing drawing = DrawPlan(view);
  const auto& rings = view.classes[0].plan.of(plan::GraphId::kRing).channels;
  const auto ring = std::ranges::find_if(drawing.lines, [](const Polyline& line) {
    return line.title == "channel 0" && !line.color.empty();
  });
  ASSERT_NE(ring, drawing.lines.end());
  EXPECT_EQ(ring->points.size(), rings[0].devices.size() + 2);
  for (const auto& [x, y] : ring->points) {
    EXPECT_GT(x, 0);
    EXPECT_LT(x, drawing.width);
    EXPECT_LT(y, drawing.height);
  }
  // Three edges for each of the two trees over four nodes.
  EXPECT_EQ(std::ranges::count_if(drawing.lines,
                                  [](const Polyline& line) {
                                    return line.title.empty() && !line.color.empty() &&
                                           line.points.size() == 4;
                                  }),
            6);
}

PlanView ViewOf(const std::string& file, std::uint32_t hosts) {
  PlanRequest request;
  request.machine.source.file = Fixture(file);
  request.hosts = hosts;
  return MakePlanView(request, {}).value();
}

void ExpectLegible(const Drawing& drawing) {
  for (const Box& box : drawing.boxes) {
    EXPECT_TRUE(box.x >= 0 && box.x + box.width <= drawing.width);
    EXPECT_TRUE(box.y >= 0 && box.y + box.height <= drawing.height);
  }
  for (const Polyline& line : drawing.lines)
    for (const auto& [x, y] : line.points)
      EXPECT_TRUE(x >= 0 && x <= drawing.width && y >= 0 && y <= drawing.height) << line.title;
  for (std::size_t i = 0; i < drawing.words.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(ExtentOf(drawing.words[i]).Overlaps(ExtentOf(drawing.words[j])))
          << drawing.words[i].text << " and " << drawing.words[j].text;
}

TEST(PlanDrawTest, NothingLiesOutsideAndNoWordsOverOthers) {
  ExpectLegible(DrawPlan(ViewOf("topo-vectors/nvswitch8-sm90.xml", 4)));
}

TEST(PlanDrawTest, OfManyChannelsTheFirstAreDrawnAndTheOthersCounted) {
  PlanView view = ViewOf("topo-vectors/nvswitch8-sm90.xml", 4);
  auto& channels = view.classes[0].plan.of(plan::GraphId::kRing).channels;
  channels.resize(40, channels.at(0));
  const Drawing drawing = DrawPlan(view);
  ExpectLegible(drawing);
  EXPECT_NE(std::ranges::find(drawing.words, "and 8 more", &Words::text), drawing.words.end());
  EXPECT_NE(std::ranges::find(drawing.lines, "channel 31", &Polyline::title), drawing.lines.end());
  EXPECT_EQ(std::ranges::find(drawing.lines, "channel 32", &Polyline::title), drawing.lines.end());
}

TEST(PlanDrawTest, HeadingsBeginBelowTheTitle) {
  const Drawing drawing = DrawPlan(ViewOf("topo-vectors/nvswitch8-sm90.xml", 4));
  const auto title = std::ranges::max_element(drawing.words, {}, &Words::size);
  ASSERT_NE(title, drawing.words.end());
  for (const char* start : {"ring (", "tree (", "tree 0 ", "tree 1 "}) {
    const auto heading = std::ranges::find_if(
        drawing.words, [&](const Words& words) { return words.text.starts_with(start); });
    ASSERT_NE(heading, drawing.words.end()) << start;
    EXPECT_EQ(heading->x, title->x) << start;
  }
}

TEST(PlanDrawTest, TheTreesAreThoseOfTwoNodesOrMore) {
  const auto headings = [](std::uint32_t hosts) {
    const Drawing drawing = DrawPlan(ViewOf("topo-vectors/pcie4-1nic.xml", hosts));
    return std::ranges::count_if(drawing.words, [](const Words& words) {
      return words.text.starts_with("tree 0 over") || words.text.starts_with("tree 1 over");
    });
  };
  EXPECT_EQ(headings(1), 0);
  EXPECT_EQ(headings(2), 2);
}

TEST(PlanDrawTest, ADotIsAroundEachPointOfAChannel) {
  const Drawing drawing = DrawPlan(ViewOf("topo-vectors/pcie4-1nic.xml", 2));
  for (const Polyline& line : drawing.lines) {
    if (!line.title.starts_with("channel")) continue;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const auto& [x, y] = line.points[i];
      const auto dot = std::ranges::find_if(drawing.boxes, [&](const Box& box) {
        return !box.node && box.x + box.width / 2 == x && box.y + box.height / 2 == y;
      });
      ASSERT_NE(dot, drawing.boxes.end()) << line.title << ", " << i;
      const bool net = i == 0 || (i == 5 && line.points.size() == 6);
      EXPECT_EQ(dot->paint, net ? Paint::kNic : Paint::kGpu) << line.title << ", " << i;
    }
  }
}

/// From the top of a node to the bottom of the one above it, at their middles.
TEST(PlanDrawTest, AnEdgeOfATreeJoinsTwoOfItsNodes) {
  const Drawing drawing = DrawPlan(ViewOf("topo-vectors/pcie4-1nic.xml", 9));
  std::size_t edges = 0;
  const auto node_at = [&](double x, double y, bool top) {
    return std::ranges::count_if(drawing.boxes, [&](const Box& box) {
      return box.title.starts_with("node ") && std::abs(box.x + box.width / 2 - x) < 1e-6 &&
             std::abs(box.y + (top ? 0 : box.height) - y) < 1e-6;
    });
  };
  for (const Polyline& line : drawing.lines) {
    if (line.points.size() != 4 || !line.title.empty() || line.color.empty()) continue;
    ++edges;
    EXPECT_EQ(node_at(line.points[0].first, line.points[0].second, true), 1);
    EXPECT_EQ(node_at(line.points[3].first, line.points[3].second, false), 1);
    EXPECT_GT(line.points[0].second, line.points[3].second);
  }
  EXPECT_EQ(edges, 2u * 8u) << "of all nodes but the root, of both trees";
}

TEST(PlanDrawTest, ChannelsLieBelowTheirHeading) {
  const PlanView view = ViewOf("topo-vectors/nvswitch8-sm90.xml", 4);
  const Drawing drawing = DrawPlan(view);
  std::vector<Extent> headings;
  for (const char* start : {"ring (", "tree ("})
    headings.push_back(ExtentOf(*std::ranges::find_if(
        drawing.words, [&](const Words& words) { return words.text.starts_with(start); })));
  const std::size_t rings = view.classes[0].plan.of(plan::GraphId::kRing).channels.size();
  std::size_t seen = 0;
  for (const Polyline& line : drawing.lines) {
    if (!line.title.starts_with("channel")) continue;
    const Extent& own = headings[seen++ < rings ? 0 : 1];
    for (const auto& [x, y] : line.points) {
      EXPECT_GT(y, own.bottom) << line.title;
      EXPECT_TRUE(seen > rings || y < headings[1].top) << line.title;
    }
  }
  EXPECT_EQ(seen, rings + view.classes[0].plan.of(plan::GraphId::kTree).channels.size());
}

TEST(PlanDrawTest, AChannelPassesBelowTheMiddlesOfItsDevices) {
  const PlanView view = ViewOf("topo-vectors/pcie4-1nic.xml", 2);
  const Drawing drawing = DrawPlan(view);
  std::vector<double> middles;
  for (const Box& box : drawing.boxes)
    if (box.node && (box.paint == Paint::kGpu || box.paint == Paint::kNic))
      middles.push_back(box.x + box.width / 2);
  EXPECT_EQ(middles.size(), 5u);
  std::size_t channels = 0;
  for (const Polyline& line : drawing.lines) {
    if (!line.title.starts_with("channel")) continue;
    ++channels;
    for (const auto& [x, y] : line.points) EXPECT_THAT(middles, testing::Contains(x));
  }
  EXPECT_GT(channels, 0u);
}

TEST(PlanDrawTest, LinesAreAsWideAsTheirLoad) {
  const std::string file = Fixture("topo-vectors/nvswitch8-sm90.xml");
  const ToolRun ran = RunCommand({"plan", "draw", file, "--hosts", "2", "--policy", "compat",
                                  "--load", "all_reduce", "-b", "64M"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("load of all_reduce of 64M"));
  EXPECT_THAT(ran.output, HasSubstr("below a quarter of the busiest link"));
  EXPECT_THAT(ran.output, HasSubstr("NVS/0-0 ")) << "titles name the ends of links";
  EXPECT_THAT(RunCommand({"plan", "draw", file, "--load", "all_to_all"}).errors,
              HasSubstr("all_to_all not in"));
}

TEST(PlanDrawTest, SvgGoesToStandardOutput) {
  const ToolRun ran = RunCommand({"plan", "draw", Fixture("topo-vectors/pcie4-1nic.xml")});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("<svg "));
  EXPECT_THAT(ran.output, HasSubstr("#0072B2"));
}

}  // namespace
}  // namespace ringlet::cli
