#include "frontends/cli/topo_layout.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "frontends/cli/topo_for_test.hpp"
#include "frontends/cli/topo_source.hpp"
#include "topology/machines_for_test.hpp"

namespace ringlet::cli {
namespace {

using topology::Graph;

Graph GraphOf(const std::vector<topology::HostView>& views) {
  return topology::Build(views, {}, {.gpus = topology::GpuRanks::kAll, .unknown_net = false})
      .value();
}

Graph GraphOfFile(const std::string& path) {
  return GraphOf({LoadTopology({.file = path, .root = {}, .synthetic = {}})->view});
}

/// That no words lie over others or outside, and all are in some box or have ground of their own.
void ExpectLegible(const Drawing& drawing, const std::string& name) {
  std::vector<Extent> extents;
  for (const Words& words : drawing.words) extents.push_back(ExtentOf(words));
  for (std::size_t i = 0; i < extents.size(); ++i) {
    EXPECT_GE(extents[i].left, 0) << name << ": " << drawing.words[i].text;
    EXPECT_LE(extents[i].right, drawing.width) << name << ": " << drawing.words[i].text;
    EXPECT_LE(extents[i].bottom, drawing.height) << name << ": " << drawing.words[i].text;
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(extents[i].Overlaps(extents[j]))
          << name << ": \"" << drawing.words[i].text << "\" over \"" << drawing.words[j].text
          << "\"";
  }
  for (const Box& box : drawing.boxes) {
    EXPECT_GE(box.x, 0) << name;
    EXPECT_LE(box.x + box.width, drawing.width) << name;
    EXPECT_LE(box.y + box.height, drawing.height) << name;
  }
}

std::size_t Count(const Drawing& drawing, Paint paint) {
  const auto boxes = std::count_if(drawing.boxes.begin(), drawing.boxes.end(),
                                   [&](const Box& box) { return box.paint == paint; });
  const auto lines = std::count_if(drawing.lines.begin(), drawing.lines.end(),
                                   [&](const Line& line) { return line.paint == paint; });
  return static_cast<std::size_t>(boxes + lines);
}

TEST(TopoLayoutTest, NoLabelsOverlapOnAnyMachine) {
  std::size_t drawn = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Fixture("topologies"))) {
    const std::string path = entry.path();
    if (!path.ends_with(".topo.xml")) continue;
    const auto loaded = LoadTopology({.file = path, .root = {}, .synthetic = {}});
    if (!loaded.ok()) continue;
    const auto graph = topology::Build({&loaded->view, 1}, {}, {.gpus = topology::GpuRanks::kAll});
    if (!graph.ok()) continue;
    ExpectLegible(LayOut(*graph, "A machine"), entry.path().filename());
    ++drawn;
  }
  EXPECT_GT(drawn, 25u);
}

TEST(TopoLayoutTest, ARackOf72GpusIsLegibleAndJoined) {
  const Drawing drawing = LayOut(GraphOf(topology::RackForTest(18)), "NVL72");
  ExpectLegible(drawing, "NVL72");
  EXPECT_EQ(Count(drawing, Paint::kGpu), 72u);
  EXPECT_EQ(Count(drawing, Paint::kHost), 18u);
  EXPECT_EQ(Count(drawing, Paint::kNvSwitch), 18u);
  EXPECT_EQ(Count(drawing, Paint::kNvLine), 72u + 18u + 1u + 1u);  // GPUs, ties, spine, legend
  EXPECT_GT(drawing.width, drawing.height);
}

TEST(TopoLayoutTest, ACubeMeshHasAWireForEachPair) {
  const Drawing drawing =
      LayOut(GraphOfFile(Fixture("topologies/nvidia/ucb_dgx1v.topo.xml")), "DGX-1");
  EXPECT_EQ(Count(drawing, Paint::kGpu), 8u);
  EXPECT_EQ(Count(drawing, Paint::kNvLine), 16u + 1u);
  EXPECT_EQ(Count(drawing, Paint::kNvSwitch), 0u);
}

TEST(TopoLayoutTest, NothingIsDrawnTwiceAndDevicesDoNotOverlap) {
  const Drawing drawing =
      LayOut(GraphOfFile(Fixture("topologies/nvidia/dgx_a100_keysight.topo.xml")), "DGX A100");
  std::vector<Extent> devices;
  for (const Box& box : drawing.boxes)
    if (box.paint == Paint::kGpu || box.paint == Paint::kNic || box.paint == Paint::kSwitch)
      devices.push_back({box.x, box.y, box.x + box.width, box.y + box.height});
  EXPECT_GT(devices.size(), 20u);
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(devices[i].Overlaps(devices[j]));
}

TEST(TopoLayoutTest, WhatNobodyCouldReadIsRefused) {
  topology::MachineForTest machine;
  machine.Numa(0);
  for (std::uint8_t gpu = 0; gpu < 100; ++gpu) {
    machine.Gpu(gpu, 80);
    for (std::uint8_t other = 0; other < 100; ++other)
      if (other != gpu) machine.NvLink(other, 1);
  }
  const Status drawable = CheckDrawable(GraphOf({machine.view}));
  ASSERT_FALSE(drawable.ok());
  EXPECT_THAT(drawable.error().message, testing::HasSubstr("4950 NVLinks from GPU to GPU"));
  EXPECT_TRUE(CheckDrawable(GraphOf(topology::RackForTest(18))).ok());
}

TEST(TopoLayoutTest, WiderLinesAreFaster) {
  EXPECT_LT(LineWidth({12'000}), LineWidth({48'000}));
  EXPECT_LT(LineWidth({48'000}), LineWidth({721'800}));
  EXPECT_EQ(LineWidth({1}), 1);
  EXPECT_EQ(LineWidth(topology::kLocalLink), 1);  // nothing is known
}

TEST(TopoLayoutTest, AMachineOfProcessorsAloneIsDrawn) {
  topology::MachineForTest machine;
  machine.Numa(0);
  ExpectLegible(LayOut(GraphOf({machine.view}), "small"), "small");
}

}  // namespace
}  // namespace ringlet::cli
