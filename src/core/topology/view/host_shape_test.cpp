#include "topology/view/host_shape.hpp"

#include <gtest/gtest.h>

#include "topo/edit/machines_for_test.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::topology {
namespace {

HostView Node(std::uint64_t number) {
  HostView view = MachineForTest(number, "node" + std::to_string(number))
                      .Numa(0)
                      .Switch(1)
                      .Gpu(2, 90)
                      .Nic(3, 400'000)
                      .Nic(4, 400'000)
                      .Nic(5, 400'000)
                      .view;
  view.numa_nodes[0].memory_bytes = 1000 + number;
  view.cpu.name = "of node " + std::to_string(number);
  view.gpus[0].rank = static_cast<std::uint32_t>(number);
  view.nets[0].guid = view.nets[1].guid = 7000 + number;  // two ports of one chip
  view.nets[2].guid = 100 + number;
  return view;
}

TEST(HostShapeTest, HostsOfAKindHaveEqualShapes) {
  EXPECT_NE(Node(1).digest(), Node(2).digest());
  EXPECT_EQ(ShapeOf(Node(1)), ShapeOf(Node(2)));
  EXPECT_TRUE(ShapeOf(Node(1)).Check().ok());
}

TEST(HostShapeTest, PropertiesThatPlansUseChangeTheShape) {
  HostView slower = Node(1);
  slower.nets[1].speed_mbit_per_s = 200'000;
  EXPECT_NE(ShapeOf(slower), ShapeOf(Node(1)));
  HostView apart = Node(1);
  apart.nets[1].guid = 8000;
  EXPECT_NE(ShapeOf(apart), ShapeOf(Node(1)));
  HostView fewer = Node(1);
  fewer.numa_nodes[0].cpus = CpuSet::Of(0, 3);
  EXPECT_NE(ShapeOf(fewer), ShapeOf(Node(1)));
}

TEST(HostShapeTest, AHostOfItsShapeGivesTheSameGraph) {
  const HostView view = Node(3);
  HostView again = HostOfShape(ShapeOf(view), view.name, view.identity);
  again.gpus[0].rank = view.gpus[0].rank;
  const BuildOptions options{.gpus = GpuRanks::kAll};
  EXPECT_EQ(ToText(Build({&again, 1}, {}, options).value()),
            ToText(Build({&view, 1}, {}, options).value()));
  EXPECT_EQ(again.nets[0].guid, again.nets[1].guid);
  EXPECT_NE(again.nets[0].guid, again.nets[2].guid);
}

TEST(HostShapeTest, HostsHaveDistinctGuids) {
  const HostView a = HostOfShape(ShapeOf(Node(1)), "a", 1);
  const HostView b = HostOfShape(ShapeOf(Node(2)), "b", 2);
  EXPECT_NE(a.nets[0].guid, b.nets[0].guid);
  EXPECT_NE(a.nets[0].guid, b.nets[2].guid);
}

}  // namespace
}  // namespace ringlet::topology
