#include "topology/graph/merge_ports.hpp"

#include <gtest/gtest.h>

#include "topology/edit/machines_for_test.hpp"

namespace ringlet::topology {
namespace {

TEST(MergePortsTest, PortsOfOneFunctionBecomeOne) {
  MachineForTest machine;
  machine.Numa(0).Nic(0x10, 100'000).Nic(0x11, 25'000);
  machine.view.nets.push_back(machine.view.nets[0]);
  machine.view.nets[2].name = "second";
  const HostView merged = MergePorts(machine.view);
  ASSERT_EQ(merged.nets.size(), 2u);
  EXPECT_EQ(merged.nets[0].name, machine.view.nets[0].name + "+second");
  EXPECT_EQ(merged.nets[0].speed_mbit_per_s, 200'000u);
  EXPECT_EQ(merged.nets[0].members.size(), 2u);
  EXPECT_EQ(merged.nets[1], machine.view.nets[1]);
}

TEST(MergePortsTest, SeveralWithoutAFunctionAreLeftOut) {
  MachineForTest machine;
  machine.Numa(0).NicOnNuma(10'000);
  EXPECT_EQ(MergePorts(machine.view).nets.size(), 1u);
  machine.view.nets.push_back(machine.view.nets[0]);
  EXPECT_EQ(MergePorts(machine.view).nets.size(), 0u);
}

TEST(MergePortsTest, NoMoreThanEightAreMerged) {
  MachineForTest machine;
  machine.Numa(0).Nic(0x10, 1'000);
  for (int i = 0; i < 8; ++i) machine.view.nets.push_back(machine.view.nets[0]);
  const HostView merged = MergePorts(machine.view);
  ASSERT_EQ(merged.nets.size(), 2u);
  EXPECT_EQ(merged.nets[0].speed_mbit_per_s, 8'000u);
}

}  // namespace
}  // namespace ringlet::topology
