#include "topology/view/known_devices.hpp"

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
    EXPECT_TRUE(names.insert(model.product).second) << model.name;
    EXPECT_GT(model.memory_gib, 0u) << model.name;
    EXPECT_GT(model.processors, 0u) << model.name;
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

TEST(KnownDevicesTest, NvLinkCountsMatchNccl) {
  const std::pair<std::uint32_t, std::uint32_t> table[] = {
      {52, 0},  {59, 0},  {60, 4},  {69, 4},   {70, 6},   {79, 6},  {80, 12},
      {89, 12}, {90, 18}, {99, 18}, {120, 18}, {106, 18}, {107, 36}};
  for (const auto& [capability, links] : table)
    EXPECT_EQ(NvLinksMax(capability), links) << capability;
}

TEST(KnownDevicesTest, LayoutsHaveNames) {
  for (const char* name : {"none", "switch", "pairs", "mesh", "cube-mesh"})
    EXPECT_EQ(LayoutName(FindLayout(name).value()), name);
  EXPECT_EQ(FindLayout("ring"), std::nullopt);
}

}  // namespace
}  // namespace ringlet::topology
