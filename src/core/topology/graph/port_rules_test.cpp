#include "topology/graph/port_rules.hpp"

#include <gmock/gmock.h>

#include "topo/edit/machines_for_test.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two ports of one device, which NCCL merges, one port of another, and two without a PCI function.
HostView MachineWithPorts() {
  MachineForTest machine;
  machine.Numa(0).Nic(0x10, 100'000).Nic(0x11, 25'000).NicOnNuma(10'000);
  for (const std::uint32_t twin : {0u, 2u}) {
    machine.view.nets.push_back(machine.view.nets[twin]);
    machine.view.nets.back().name = twin == 0 ? "mlx5_0b" : "eth0b";
  }
  for (std::uint32_t i = 0; i < machine.view.nets.size(); ++i)
    if (i != 2 && i != 4) machine.view.nets[i].port = 1;
  machine.view.nets[2].name = "eth0";
  return machine.view;
}

std::vector<std::string> Used(const HostView& view) {
  std::vector<std::string> names;
  for (const NetInterface& net : view.nets)
    if (net.net_api.value_or(true)) names.push_back(net.name);
  return names;
}

PortRules RulesOf(const Settings& settings) {
  return ReadPortRules(settings).value();
}

std::vector<std::string> UsedWith(const Settings& settings) {
  return Used(ApplyPortRules(MachineWithPorts(), RulesOf(settings)).value().view);
}

TEST(PortRulesTest, MergesPortsOfADeviceAndSkipsPortsWithoutADevice) {
  const PlannedPorts planned = ApplyPortRules(MachineWithPorts(), {}).value();
  EXPECT_THAT(Used(planned.view), ElementsAre("mlx5_1", "mlx5_0+mlx5_0b"));
  EXPECT_EQ(planned.view.nets.back().speed_mbit_per_s, 200'000u);
  EXPECT_EQ(planned.view.nets.back().nic, planned.view.nets.front().nic);
  EXPECT_THAT(
      planned.notes,
      ElementsAre(
          "merged as in NCCL (NCCL_NET_MERGE_LEVEL=LOC prevents it): 1 port of several each: "
          "mlx5_0+mlx5_0b",
          "left out, because NCCL merges them and cannot place the result "
          "(NCCL_NET_MERGE_LEVEL=LOC prevents it): 2 ports without a PCI function: eth0, eth0b"));
}

TEST(PortRulesTest, AnUnchangedViewCausesNoNotes) {
  const HostView view = MachineForTest().Numa(0).Nic(0x10, 100'000).NicOnNuma(10'000).view;
  const PlannedPorts planned = ApplyPortRules(view, {}).value();
  EXPECT_EQ(planned.view, view);
  EXPECT_THAT(planned.notes, IsEmpty());
}

TEST(PortRulesTest, LevelsPoliciesAndNamesAreReadFromSettings) {
  Settings settings;
  settings.net_merge_level = "LOC";
  EXPECT_EQ(UsedWith(settings).size(), 5u);
  settings.net_force_merge = "mlx5_0,mlx5_1";
  EXPECT_THAT(UsedWith(settings), ElementsAre("eth0", "mlx5_0b", "eth0b", "mlx5_0+mlx5_1"));
  settings = {};
  settings.net_merge_policy = "rail";
  EXPECT_EQ(UsedWith(settings).size(), 5u) << "no port has a rail";
}

TEST(PortRulesTest, ErrorsNameTheVariable) {
  Settings settings;
  settings.net_merge_level = "NEAR";
  EXPECT_THAT(ReadPortRules(settings).error().message, HasSubstr("RINGLET_NET_MERGE_LEVEL=\"NEAR"));
  settings = {};
  settings.net_merge_policy = "SOME";
  EXPECT_THAT(ReadPortRules(settings).error().message, HasSubstr("it must be ALL or RAIL"));
  for (const char* text : {"mlx5_0:x", ":1", "mlx5_0:1:2:3:4"}) {
    settings = {};
    settings.ib_hca = text;
    EXPECT_THAT(ReadPortRules(settings).error().message, HasSubstr("is not a port")) << text;
  }
}

TEST(PortRulesTest, InvalidValuesOfNcclVariablesAreIgnoredAndReported) {
  const Settings settings =
      ParseSettings({{"NCCL_IB_HCA", "=mlx5_0,mlx5_1:x,:1"}, {"NCCL_NET_MERGE_LEVEL", "LOC"}})
          .value();
  const PlannedPorts planned = ApplyPortRules(MachineWithPorts(), RulesOf(settings)).value();
  EXPECT_THAT(Used(planned.view), ElementsAre("mlx5_0", "eth0", "eth0b"));
  EXPECT_THAT(planned.notes.front(),
              HasSubstr("entries of NCCL_IB_HCA are ignored, as in NCCL: mlx5_1:x, :1;"));
  std::string many = "^none";
  for (int i = 0; i < 40; ++i) many += ",mlx5_" + std::to_string(i);
  EXPECT_THAT(RulesOf(ParseSettings({{"NCCL_IB_HCA", many}}).value()).notes.front(),
              HasSubstr("mlx5_31, mlx5_32, mlx5_33, mlx5_34 and 5 more"));
  EXPECT_THAT(ReadPortRules(ParseSettings({{"RINGLET_IB_HCA", many}}).value()).error().message,
              HasSubstr("more than 32 ports are named"));
}

TEST(PortRulesTest, HcaAppliesToRdmaPortsOnly) {
  Settings settings;
  settings.net_merge_level = "LOC";
  settings.ib_hca = "=mlx5_0";
  EXPECT_THAT(UsedWith(settings), ElementsAre("mlx5_0", "eth0", "eth0b"));
  settings.ib_hca = "^mlx5_0";
  EXPECT_THAT(UsedWith(settings), ElementsAre("mlx5_1", "eth0", "eth0b"));
  settings.ib_hca = "mlx5_0";
  const PlannedPorts planned = ApplyPortRules(MachineWithPorts(), RulesOf(settings)).value();
  EXPECT_THAT(planned.notes, ElementsAre("left out by IB_HCA: 1 port: mlx5_1"));
}

TEST(PortRulesTest, HcaMaySelectAPort) {
  const HcaRule rule = HcaRule::Parse("=mlx5_0:2,mlx5_1").value();
  EXPECT_FALSE(rule.Allows("mlx5_0", 1));
  EXPECT_TRUE(rule.Allows("mlx5_0", 2));
  EXPECT_TRUE(rule.Allows("mlx5_1", 1));
  EXPECT_FALSE(rule.Allows("mlx5_10", 1));
  EXPECT_TRUE(HcaRule::Parse("mlx5_1::3").value().Allows("mlx5_10", 7));
  EXPECT_TRUE(HcaRule::Parse("").value().Allows("any", 1));
}

}  // namespace
}  // namespace ringlet::topology
