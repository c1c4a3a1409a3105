#include "topology/known_devices.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ringlet::topology {
namespace {

TEST(KnownDevicesTest, NoNameOrDeviceOccursTwice) {
  std::set<std::string_view> names;
  std::set<std::uint32_t> devices;
  for (const GpuModel& model : GpuModels()) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name;
    EXPECT_TRUE(devices.insert(std::uint32_t{model.vendor} << 16 | model.device).second);
    EXPECT_EQ(FindGpuModel(model.name), &model);
    EXPECT_EQ(FindGpuModel(PciIds{model.vendor, model.device, 0, 0}), &model);
    if (model.gcn.empty()) {
      EXPECT_LE(model.links, NvLinksMax(model.compute_capability)) << model.name;
    }
  }
  EXPECT_EQ(FindGpuModel("a101"), nullptr);
  EXPECT_EQ(FindGpuModel(PciIds{}), nullptr);
}

TEST(KnownDevicesTest, EveryMachineHasAKnownGpuAndASource) {
  for (const KnownMachine& machine : KnownMachines()) {
    EXPECT_NE(FindGpuModel(machine.gpu), nullptr) << machine.name;
    EXPECT_FALSE(machine.source.empty()) << machine.name;
    EXPECT_EQ(FindKnownMachine(machine.name), &machine);
  }
  EXPECT_EQ(FindKnownMachine("cray-1"), nullptr);
}

TEST(KnownDevicesTest, NvLinksAreThoseThatNcclLooksFor) {
  EXPECT_EQ(NvLinksMax(52), 0u);
  EXPECT_EQ(NvLinksMax(61), 4u);
  EXPECT_EQ(NvLinksMax(75), 6u);
  EXPECT_EQ(NvLinksMax(89), 12u);
  EXPECT_EQ(NvLinksMax(120), 18u);
}

TEST(KnownDevicesTest, LayoutsHaveNames) {
  for (const char* name : {"none", "switch", "pairs", "mesh", "cube-mesh"})
    EXPECT_EQ(LayoutName(FindLayout(name).value()), name);
  EXPECT_EQ(FindLayout("ring"), std::nullopt);
}

}  // namespace
}  // namespace ringlet::topology
