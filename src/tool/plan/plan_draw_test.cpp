#include "tool/plan/plan_draw.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tool/draw/topo_layout.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

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

TEST(PlanDrawTest, AllPartsLieInsideAndWordsDoNotOverlap) {
  ExpectLegible(DrawPlan(ViewOf("topo-vectors/nvswitch8-sm90.xml", 4)));
  ExpectLegible(DrawPlan(ViewOf("topo-vectors/nvswitch8-sm90.xml", 1)));
  ExpectLegible(DrawPlan(ViewOf("topo-vectors/pcie16-4persw.xml", 1)));  // wraps rows
}

/// Counts the words of a drawing that equal `text`.
std::ptrdiff_t CountOf(const Drawing& drawing, const std::string& text) {
  return std::ranges::count(drawing.words, text, &Words::text);
}

TEST(PlanDrawTest, DrawsEqualChannelsOnceWithTheirDeviceNames) {
  PlanView view = ViewOf("topo-vectors/nvswitch8-sm90.xml", 1);
  auto& graphs = view.classes[0].plan;
  auto& rings = graphs.of(plan::GraphId::kRing).channels;
  rings.resize(12, rings.at(0));
  for (std::size_t i = 0; i < rings.size(); ++i) {
    rings[i] = rings[0];
    // the same cycle
    if (i > 0) std::ranges::rotate(rings[i].devices, rings[i].devices.begin() + 1);
  }
  graphs.of(plan::GraphId::kTree).channels.clear();
  const Drawing drawing = DrawPlan(view);
  EXPECT_EQ(CountOf(drawing, "0-11, x 12"), 1);
  const std::string first = view.nodes[0].gpus[0];
  EXPECT_EQ(CountOf(drawing, first), 2) << "once in the ring, and where it closes";
  for (std::size_t i = 1; i < 8; ++i) EXPECT_EQ(CountOf(drawing, view.nodes[0].gpus[i]), 1);
  EXPECT_LT(drawing.height, LayOut(*view.nodes[0].graph, "").height + 120);
}

TEST(PlanDrawTest, DrawsTheFirstOfManyChannelsAndCountsTheOthers) {
  PlanView view = ViewOf("topo-vectors/nvswitch8-sm90.xml", 4);
  auto& channels = view.classes[0].plan.of(plan::GraphId::kRing).channels;
  channels.resize(40, channels.at(0));
  for (std::uint32_t i = 0; i < 40; ++i) {
    channels[i].entry = i % 8;
    channels[i].exit = i / 8;
  }
  const Drawing drawing = DrawPlan(view);
  ExpectLegible(drawing);
  EXPECT_EQ(CountOf(drawing, "and 8 more"), 1);
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

TEST(PlanDrawTest, DrawsTreesOnlyForTwoNodesOrMore) {
  const auto headings = [](std::uint32_t hosts) {
    const Drawing drawing = DrawPlan(ViewOf("topo-vectors/pcie4-1nic.xml", hosts));
    return std::ranges::count_if(drawing.words, [](const Words& words) {
      return words.text.starts_with("tree 0 over") || words.text.starts_with("tree 1 over");
    });
  };
  EXPECT_EQ(headings(1), 0);
  EXPECT_EQ(headings(2), 2);
}

/// Returns the labels in the boxes of a row, from left to right.
std::vector<std::string> LabelsOfRow(const Drawing& drawing, double y) {
  std::vector<std::pair<double, std::string>> labels;
  for (const Box& box : drawing.boxes) {
    if (box.node || box.y != y || !(box.paint == Paint::kGpu || box.paint == Paint::kNic)) continue;
    for (const Words& words : drawing.words)
      if (words.anchor == Anchor::kMiddle && words.x == box.x + box.width / 2 && words.y > box.y &&
          words.y < box.y + box.height)
        labels.emplace_back(words.x, words.text);
  }
  std::ranges::sort(labels);
  std::vector<std::string> texts;
  for (const auto& [x, text] : labels) texts.push_back(text);
  return texts;
}

TEST(PlanDrawTest, ARowPassesTheDevicesOfItsChannelInOrder) {
  const PlanView view = ViewOf("topo-vectors/pcie4-1nic.xml", 2);
  const Drawing drawing = DrawPlan(view);
  const auto& ring = view.classes[0].plan.of(plan::GraphId::kRing).channels.at(0);
  std::vector<std::string> expected = {view.nodes[0].nets.at(*ring.entry)};
  for (const std::uint32_t device : ring.devices) expected.push_back(view.nodes[0].gpus[device]);
  expected.push_back(view.nodes[0].nets.at(*ring.exit));
  const auto arrow = std::ranges::find_if(drawing.lines, [](const Polyline& line) {
    return line.title.starts_with("channel") && line.group.starts_with("ring ");
  });
  ASSERT_NE(arrow, drawing.lines.end());
  const auto box = std::ranges::find_if(drawing.boxes, [&](const Box& one) {
    return !one.node && one.x + one.width == arrow->points.front().first &&
           one.y + one.height / 2 == arrow->points.front().second;
  });
  ASSERT_NE(box, drawing.boxes.end()) << "an arrow begins at a box";
  EXPECT_EQ(LabelsOfRow(drawing, box->y), expected);
}

/// An edge joins the top of a node with the bottom of the node above, at their middles.
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
  const Drawing drawing = DrawPlan(ViewOf("topo-vectors/nvswitch8-sm90.xml", 4));
  std::vector<Extent> headings;
  for (const char* start : {"ring (", "tree ("})
    headings.push_back(ExtentOf(*std::ranges::find_if(
        drawing.words, [&](const Words& words) { return words.text.starts_with(start); })));
  std::size_t seen = 0;
  for (const Polyline& line : drawing.lines) {
    if (!line.title.starts_with("channel")) continue;
    ++seen;
    const bool ring = line.group.starts_with("ring ");
    for (const auto& [x, y] : line.points) {
      EXPECT_GT(y, headings[ring ? 0 : 1].bottom) << line.title;
      EXPECT_TRUE(!ring || y < headings[1].top) << line.title;
    }
  }
  EXPECT_GT(seen, 0u);
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

TEST(PlanDrawTest, WritesSvgToStandardOutput) {
  const ToolRun ran = RunCommand({"plan", "draw", Fixture("topo-vectors/pcie4-1nic.xml")});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("<svg "));
  EXPECT_THAT(ran.output, HasSubstr("#0072B2"));
}

}  // namespace
}  // namespace ringlet::cli
