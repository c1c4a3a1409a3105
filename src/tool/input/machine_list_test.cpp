#include "tool/input/machine_list.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "topo/edit/synthetic.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

MachineSummary Of(const char* words) {
  return Summarize("mine", "/m/mine.xml", topology::ParseSynthetic(words).value());
}

TEST(MachineListTest, ASummaryHasGpusLinksAndNics) {
  const MachineSummary machine =
      Of("2x(numa: 4x(switch: 1 gpu h100-sxm5 switch, 1 nic 400g)), (numa: nic 100g)");
  EXPECT_EQ(machine.gpus, 8u);
  EXPECT_EQ(machine.gpu, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(machine.compute_capability, 90u);
  EXPECT_EQ(machine.links, "NVLink to hidden switches");
  EXPECT_THAT(machine.nets, UnorderedElementsAre(Pair(400'000u, 8u), Pair(100'000u, 1u)));
  EXPECT_TRUE(machine.cuda);
}

TEST(MachineListTest, LinksMatchTheFile) {
  EXPECT_EQ(Of("2 gpu a10g").links, "none");
  EXPECT_EQ(Of("2 gpu a100-pcie pairs").links, "NVLink");
  topology::HostView view = topology::ParseSynthetic("2 gpu h100-sxm5 switch").value();
  view.gpus[0].links[0].target = topology::BusId::Of(0, 0xa0, 0, 0);
  view.gpus[1].links[0].target = topology::BusId::Of(0, 0xa0, 0, 0);
  const MachineSummary machine = Summarize("mine", "", view);
  EXPECT_EQ(machine.links, "NVLink to 1 switch");
  EXPECT_EQ(machine.nv_switches, 1u);
}

TEST(MachineListTest, MarksMachinesWithGpusOfOtherVendors) {
  const MachineSummary machine = Of("8 gpu mi300x mesh, nic");
  EXPECT_FALSE(machine.cuda);
  EXPECT_EQ(machine.links, "xGMI");
  EXPECT_THAT(MachineListText({machine}), HasSubstr("not for CUDA programs"));
}

TEST(MachineListTest, PrintsALineAndAJsonObjectPerMachine) {
  const std::vector machines = {Of("2 gpu a10g, nic 100g"), Of("3 gpu")};
  EXPECT_THAT(MachineListText(machines), HasSubstr("2x NVIDIA A10G"));
  EXPECT_THAT(MachineListText(machines), HasSubstr("1x 100 Gbit/s"));
  EXPECT_THAT(MachineListText(machines), HasSubstr("3x sm_80"));
  const auto json = nlohmann::json::parse(MachineListJson(machines));
  ASSERT_EQ(json.at("machines").size(), 2u);
  EXPECT_EQ(json["machines"][0]["nets"][0]["mbit_per_s"], 100'000);
  EXPECT_EQ(json["machines"][0]["path"], "/m/mine.xml");
  EXPECT_EQ(json["machines"][1]["gpus"], 3);
}

}  // namespace
}  // namespace ringlet::cli
