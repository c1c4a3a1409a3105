#include "topology/graph/merge_nics.hpp"

#include <gmock/gmock.h>

#include "topo/edit/machines_for_test.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Ports 0 and 1 are functions of one device. 2 and 3 are devices on one switch. 4 is below another
/// switch of the same processor. 5 is on the second processor.
HostView Machine() {
  HostView view = MachineForTest()
                      .Numa(0)
                      .Switch(1)
                      .Nic(2, 200'000)
                      .Nic(3, 200'000)
                      .Nic(4, 100'000)
                      .Nic(5, 100'000)
                      .Up()
                      .Switch(6)
                      .Nic(7, 400'000)
                      .Up()
                      .Numa(1)
                      .Nic(8, 400'000)
                      .view;
  view.pci[2].bus = BusId::Of(0, 2, 0, 1);
  return view;
}

std::vector<std::string> Names(const HostView& view) {
  std::vector<std::string> names;
  for (const NetInterface& net : view.nets)
    if (net.net_api.value_or(true)) names.push_back(net.name);
  return names;
}

TEST(MergeNicsTest, DistancesMatchNccl) {
  const HostView view = Machine();
  EXPECT_EQ(DistanceOf(view, 0, 0), PortDistance::kLoc);
  EXPECT_EQ(DistanceOf(view, 0, 1), PortDistance::kPort);
  EXPECT_EQ(DistanceOf(view, 0, 2), PortDistance::kPix);
  EXPECT_EQ(DistanceOf(view, 2, 3), PortDistance::kPix);
  EXPECT_EQ(DistanceOf(view, 0, 4), PortDistance::kPhb);
  EXPECT_EQ(DistanceOf(view, 4, 5), PortDistance::kSys);
}

TEST(MergeNicsTest, MergesPortsOfADeviceByDefault) {
  const HostView merged = MergeNics(Machine(), {}).value();
  EXPECT_THAT(Names(merged), ElementsAre("mlx5_2", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_0+mlx5_1"));
  const NetInterface& port = merged.nets.back();
  EXPECT_EQ(port.speed_mbit_per_s, 400'000u);
  EXPECT_THAT(port.members, ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_EQ(port.dev, 6u);
  const PciDevice& made = merged.pci[merged.nics[*port.nic].parent.index];
  EXPECT_EQ(made.bus, BusId::Of(0, 2, 0, 2)) << "the first that is free";
  EXPECT_EQ(made.parent, (Part{PartKind::kPci, 0}));
  EXPECT_EQ(made.link_width, 16u);
}

TEST(MergeNicsTest, HigherLevelsMergeMorePortsAndAddBandwidths) {
  const HostView pix = MergeNics(Machine(), {.level = PortDistance::kPix}).value();
  EXPECT_THAT(Names(pix), ElementsAre("mlx5_4", "mlx5_5", "mlx5_0+mlx5_1+mlx5_2+mlx5_3"));
  EXPECT_EQ(pix.pci.back().link_width, 64u);
  const HostView phb = MergeNics(Machine(), {.level = PortDistance::kPhb}).value();
  EXPECT_THAT(Names(phb), ElementsAre("mlx5_5", "mlx5_0+mlx5_1+mlx5_2+mlx5_3+mlx5_4"));
  EXPECT_EQ(phb.pci.back().parent.kind, PartKind::kNuma);
  EXPECT_EQ(phb.pci.back().link_width, 32u) << "as much as both switches let through";
  EXPECT_EQ(MergeNics(Machine(), {.level = PortDistance::kLoc}).value(), Machine());
  EXPECT_THAT(MergeNics(Machine(), {.level = PortDistance::kSys}).error().message,
              HasSubstr("do not share a processor"));
}

TEST(MergeNicsTest, RailsAndSizesLimitGroups) {
  HostView view = Machine();
  for (std::uint32_t i = 0; i < 4; ++i) view.nets[i].rail = i % 2;
  const HostView rails = MergeNics(view, {.level = PortDistance::kPix, .same_rail = true}).value();
  EXPECT_THAT(Names(rails), ElementsAre("mlx5_4", "mlx5_5", "mlx5_0+mlx5_2", "mlx5_1+mlx5_3"));
  EXPECT_EQ(rails.nets.back().rail, 1u);
  const HostView pairs = MergeNics(view, {.level = PortDistance::kPix, .ports_max = 2}).value();
  EXPECT_THAT(Names(pairs), ElementsAre("mlx5_4", "mlx5_5", "mlx5_0+mlx5_1", "mlx5_2+mlx5_3"));
  EXPECT_EQ(pairs.nets.back().rail, std::nullopt) << "members are on two rails";
}

TEST(MergeNicsTest, NamedGroupsAreMergedFirst) {
  const NicMerge how{.forced = ParseForcedMerge("mlx5_4, mlx5_0;;")};
  EXPECT_THAT(Names(MergeNics(Machine(), how).value()),
              ElementsAre("mlx5_1", "mlx5_2", "mlx5_3", "mlx5_5", "mlx5_4+mlx5_0"));
  for (const auto& [text, why] :
       {std::pair("mlx5_9,mlx5_0", "no port is named \"mlx5_9\""),
        std::pair("mlx5_0,mlx5_0", "merged twice"), std::pair("mlx5_0,mlx5_1;mlx5_1", "twice")}) {
    const auto merged = MergeNics(Machine(), {.forced = ParseForcedMerge(text)});
    ASSERT_FALSE(merged.ok()) << text;
    EXPECT_THAT(merged.error().message, HasSubstr(why));
  }
}

TEST(MergeNicsTest, TheGraphContainsTheVirtualPortWithoutItsMembers) {
  const HostView merged = MergeNics(Machine(), {}).value();
  const Graph graph = Build({&merged, 1}, {}, {.gpus = GpuRanks::kAll}).value();
  std::vector<std::string> names;
  for (const NodeIndex node : graph.NodesOf(graph.systems()[0], NodeKind::kNet))
    names.push_back(graph.at(node).name);
  EXPECT_THAT(names, testing::UnorderedElementsAreArray(Names(merged)));
}

TEST(MergeNicsTest, SkipsUnusedPortsAndPortsWithoutAFunction) {
  HostView view = MachineForTest().Numa(0).Nic(2, 1'000).NicOnNuma(10'000).view;
  for (const std::uint32_t twin : {0u, 1u}) view.nets.push_back(view.nets[twin]);
  view.nets[2].name = "second", view.nets[3].name = "fourth";
  EXPECT_THAT(Names(MergeNics(view, {}).value()), ElementsAre("mlx5_0+second"));
  view.nets[0].net_api = false;
  EXPECT_THAT(Names(MergeNics(view, {}).value()), ElementsAre("second"));
  EXPECT_THAT(MergeNics(view, {.forced = ParseForcedMerge("mlx5_0,second")}).error().message,
              HasSubstr("no port is named"));
}

TEST(MergeNicsTest, LevelsHaveNamesAndNumbers) {
  for (const auto& [text, level] :
       {std::pair("0", PortDistance::kLoc), std::pair("1", PortDistance::kPort),
        std::pair("4", PortDistance::kPix), std::pair("9", PortDistance::kSys)})
    EXPECT_EQ(ParseMergeLevel(text).value(), level) << text;
  EXPECT_FALSE(ParseMergeLevel("10").ok());
  EXPECT_EQ(ParseMergeLevel("port").value(), PortDistance::kPort);
  EXPECT_EQ(ParseMergeLevel("P2C").value(), PortDistance::kPxb);
  EXPECT_THAT(ParseMergeLevel("NVL").error().message, HasSubstr("\"NVL\" is not one of"));
}

TEST(MergeNicsTest, ANamedGroupHasAtMostThePortsOfAVirtualNic) {
  const auto merged = [](const char* names) {
    return MergeNics(Machine(), {.forced = ParseForcedMerge(names), .ports_max = 2});
  };
  EXPECT_TRUE(merged("mlx5_2,mlx5_3").ok());
  EXPECT_THAT(merged("mlx5_1,mlx5_2,mlx5_3").error().message,
              HasSubstr("3 ports are to be merged; a virtual NIC has at most 2"));
}

}  // namespace
}  // namespace ringlet::topology
