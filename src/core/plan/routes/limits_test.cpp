#include "plan/routes/limits.hpp"

#include <gtest/gtest.h>

#include "plan/channels/machine_for_test.hpp"

namespace ringlet::plan {
namespace {

Limits LimitsOf(std::string_view words, GraphId id, bool multi_node) {
  const MachineForTest machine(words);
  RouteTable table(machine.paths());
  const SearchOptions options;
  const NicSelector nets(table, options);
  return Limits(table, nets, id, multi_node);
}

TEST(LimitsTest, ALinkHoldsAnIntegerNumberOfChannels) {
  const Limits limits = LimitsOf("(switch: 4 gpu)", GraphId::kRing, false);
  EXPECT_EQ(limits.MostOf(1), 24'000);
  EXPECT_EQ(limits.MostOf(3), 8'000);
  EXPECT_TRUE(limits.Allow(3, 8'000));
  EXPECT_FALSE(limits.Allow(3, 8'001));
  EXPECT_EQ(limits.TotalBandwidthBound(32, 5'000'000), 24'000);
}

TEST(LimitsTest, RoutesThroughIntelProcessorsCostSixFifths) {
  const Limits limits = LimitsOf("(numa: (switch: 2 gpu), (switch: 2 gpu))", GraphId::kRing, false);
  EXPECT_EQ(limits.TotalBandwidthBound(32, 5'000'000), 20'000);
}

TEST(LimitsTest, NicsThatDoNotReachGpusCostMore) {
  topology::HostView view =
      topology::ParseSynthetic("(numa: 2x(switch: 2 gpu h100-sxm5 switch, 1 nic 200g))").value();
  const auto most = [&] {
    const MachineForTest machine(view);
    RouteTable table(machine.paths());
    const SearchOptions options;
    const NicSelector nets(table, options);
    return Limits(table, nets, GraphId::kRing, true).TotalBandwidthBound(32, 5'000'000);
  };
  const std::int64_t direct = most();
  for (topology::NetInterface& net : view.nets) net.gdr = false;
  EXPECT_LT(most(), direct);
}

TEST(LimitsTest, ATreeWithinAHostHasASenderLessThanDevices) {
  const Limits limits = LimitsOf("(switch: 4 gpu)", GraphId::kTree, false);
  EXPECT_EQ(limits.TotalBandwidthBound(32, 5'000'000), 32'000);
  EXPECT_EQ(limits.MostOf(1), 24'000);
  EXPECT_EQ(limits.MostOf(4), 8'000);
}

TEST(LimitsTest, ATreeBeyondTheHostSendsOneAndAHalfTimesPerDevice) {
  EXPECT_EQ(LimitsOf("(switch: 3 gpu, 1 nic 400g)", GraphId::kTree, true).MostOf(1), 16'000);
  EXPECT_EQ(LimitsOf("(switch: 1 gpu, 1 nic 400g)", GraphId::kTree, true).MostOf(1), 24'000);
}

TEST(LimitsTest, IncludesTheLinksOfAcknowledgements) {
  // Data enters GPUs over PCIe, and leaves over NVLink and another GPU's NIC.
  const Limits limits = LimitsOf(
      "(numa: (switch: 2 gpu v100-sxm2 mesh)), (numa: (switch: 1 gpu v100-sxm2 mesh, 1 nic 100g))",
      GraphId::kRing, true);
  EXPECT_GE(limits.MostOf(1), 12'000);
}

TEST(LimitsTest, LimitsOfNicsAndDevicesAloneAreNeverStricter) {
  for (const GraphId id : {GraphId::kRing, GraphId::kTree})
    for (const bool multi_node : {false, true}) {
      const MachineForTest machine("2x(numa: (switch: 2 gpu a100-sxm4 switch, 1 nic 200g))");
      RouteTable table(machine.paths());
      const SearchOptions options;
      const NicSelector nets(table, options);
      const Limits ends(table, nets, id, multi_node, Limits::Detail::kEnds);
      const Limits links(table, nets, id, multi_node);
      EXPECT_GE(ends.TotalBandwidthBound(32, 5'000'000), links.TotalBandwidthBound(32, 5'000'000));
    }
}

TEST(LimitsTest, NicsLimitChannels) {
  const Limits limits = LimitsOf("(switch: 2 gpu, 2 nic 100g)", GraphId::kRing, true);
  EXPECT_EQ(limits.MostOf(1), 12'500);
  EXPECT_EQ(limits.MostOf(2), 12'000) << "a GPU sends 24 GB/s";
  EXPECT_EQ(limits.MostOf(3), 6'250);
}

}  // namespace
}  // namespace ringlet::plan
