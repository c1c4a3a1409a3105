#include "testbed/pci_config.hpp"

#include <gtest/gtest.h>

#include "testbed/machines_for_test.hpp"

namespace ringlet::testbed {
namespace {

std::uint32_t At16(const std::string& config, std::size_t at) {
  return static_cast<unsigned char>(config[at]) | static_cast<unsigned char>(config[at + 1]) << 8;
}

TEST(PciConfigTest, ADeviceHasItsIdsClassAndLink) {
  const topology::HostView view = SmallMachine();
  const PciSlot slot{.bus = view.pci[1].bus, .device = 1};
  const std::string config = ConfigSpaceOf(slot, view.pci[1], view.pci[1].ids);
  ASSERT_EQ(config.size(), 256u);
  EXPECT_EQ(At16(config, 0x00), 0x10deu);
  EXPECT_EQ(At16(config, 0x02), 0x20b0u);
  EXPECT_EQ(At16(config, 0x0a), 0x0302u);
  EXPECT_EQ(config[0x0e], 0);
  EXPECT_EQ(At16(config, 0x2c), 0x10deu);
  EXPECT_EQ(At16(config, 0x2e), 0x134fu);
  EXPECT_EQ(config[0x34], 0x40);
  EXPECT_EQ(At16(config, 0x40), 0x0010u);
  EXPECT_EQ(At16(config, 0x42), 0x0002u);       // an endpoint
  EXPECT_EQ(At16(config, 0x4c), 4u | 8u << 4);  // 16 GT/s, 8 lanes
  EXPECT_EQ(At16(config, 0x52), 4u | 8u << 4);
  EXPECT_EQ(At16(config, 0x6c), 0x1eu);  // 2.5 to 16 GT/s
}

TEST(PciConfigTest, ABridgeHasItsBusNumbers) {
  const topology::HostView view = SmallMachine();
  const PciSlot slot{
      .bus = view.pci[0].bus, .primary = 0x41, .secondary = 0x42, .subordinate = 0x45};
  const std::string config = ConfigSpaceOf(slot, view.pci[0], view.pci[0].ids);
  EXPECT_EQ(config[0x0e], 1);
  EXPECT_EQ(At16(config, 0x18), 0x4241u);
  EXPECT_EQ(config[0x1a], 0x45);
  EXPECT_EQ(At16(config, 0x42), 0x0052u);  // the upper port of a switch
  EXPECT_EQ(At16(config, 0x40), 0x8010u);  // the ids of the board follow
  EXPECT_EQ(At16(config, 0x80), 0x000du);
}

TEST(PciConfigTest, APortIsABridgeWhateverIsBelow) {
  const topology::HostView view = SmallMachine();
  for (const auto& [level, type] : {std::pair(PciSlot::Level::kRootPort, 0x0042u),
                                    {PciSlot::Level::kDownstreamPort, 0x0062u}}) {
    const PciSlot slot{.level = level, .device = 1};
    EXPECT_EQ(ClassOf(slot, view.pci[1]).code, 0x060400u);
    EXPECT_EQ(At16(ConfigSpaceOf(slot, view.pci[1], {}), 0x42), type);
  }
}

}  // namespace
}  // namespace ringlet::testbed
