#include "testbed/pci_slots.hpp"

#include <gmock/gmock.h>

#include <map>

#include "testbed/machines_for_test.hpp"
#include "topo/edit/synthetic.hpp"

namespace ringlet::testbed {
namespace {

using topology::BusId;

BusId Bus(std::string_view text) {
  return BusId::Parse(text).value();
}

std::map<std::string, std::string> PathsOf(const PciLayout& layout) {
  std::map<std::string, std::string> paths;
  for (const PciSlot& slot : layout.slots)
    paths[ToString(slot.bus)] = slot.path.substr(std::string("/sys/devices/").size());
  return paths;
}

TEST(PciSlotsTest, EachDeviceHasAPortOnAFreeBus) {
  const auto paths = PathsOf(LayOutPci(SmallMachine(), {}));
  const std::string above = "pci0000:40/0000:40:01.0/0000:41:00.0/";
  EXPECT_EQ(paths.at("0000:43:00.0"), above + "0000:42:00.0/0000:43:00.0");
  EXPECT_EQ(paths.at("0000:45:00.0"), above + "0000:42:01.0/0000:45:00.0");
  EXPECT_EQ(paths.at("0000:05:00.0"), "pci0000:04/0000:04:01.0/0000:05:00.0");
}

TEST(PciSlotsTest, ADeviceAtBusZeroLacksAPort) {
  EXPECT_EQ(PathsOf(LayOutPci(SmallMachine(), {})).at("0000:00:04.0"), "pci0000:00/0000:00:04.0");
}

TEST(PciSlotsTest, ACardHasAFunctionForEachNetworkDevice) {
  const auto paths = PathsOf(LayOutPci(SmallMachine(), {}));
  const std::string& first = paths.at("0000:45:00.0");
  EXPECT_EQ(paths.at("0000:45:00.1"), first.substr(0, first.rfind('/')) + "/0000:45:00.1");
  EXPECT_EQ(paths.count("0000:05:00.1"), 0u);
}

TEST(PciSlotsTest, PortsAvoidAddressesOfTheComputer) {
  const auto paths = PathsOf(LayOutPci(SmallMachine(), {Bus("0000:40:01.0"), Bus("0000:42:00.0")}));
  EXPECT_EQ(paths.at("0000:43:00.0"),
            "pci0000:40/0000:40:02.0/0000:41:00.0/0000:42:01.0/0000:43:00.0");
}

/// Expects every bridge above its bus, and each address once.
void ExpectBridges(const PciLayout& layout, bool nested) {
  std::map<std::string, const PciSlot*> by_path;
  std::set<BusId> addresses;
  for (const PciSlot& slot : layout.slots) {
    by_path[slot.path] = &slot;
    EXPECT_TRUE(addresses.insert(slot.bus).second) << ToString(slot.bus);
    const auto above = by_path.find(slot.path.substr(0, slot.path.rfind('/')));
    if (above == by_path.end()) continue;
    EXPECT_EQ(above->second->secondary, slot.bus.bus()) << slot.path;
    if (!nested) continue;
    EXPECT_GE(above->second->subordinate, std::max(slot.bus.bus(), slot.subordinate));
  }
}

TEST(PciSlotsTest, BusRangesOfBridgesNest) {
  ExpectBridges(LayOutPci(SmallMachine(), {}), true);
}

TEST(PciSlotsTest, EachBusHasItsBridgeWithoutFreeNumbersToo) {
  for (const char* words :
       {"2x(numa: 2x(switch: 2 gpu a100-sxm4, 1 nic 200g))", "4 gpu a10g, 1 nic 100g"})
    ExpectBridges(LayOutPci(topology::ParseSynthetic(words).value(), {}), false);
}

TEST(PciSlotsTest, FoldersNestAcrossDomains) {
  topology::HostView view = SmallMachine();
  view.pci[1].bus = Bus("0001:00:00.0");
  const PciLayout layout = LayOutPci(view, {});
  EXPECT_THAT(PathsOf(layout).at("0001:00:00.0"),
              testing::MatchesRegex("pci0000:40/0000:40:01.0/0000:41:00.0/0000:.*/0001:00:00.0"));
}

TEST(PciSlotsTest, ARepeatedAddressHasOneSlot) {
  topology::HostView view = SmallMachine();
  view.pci[2].bus = view.pci[1].bus;
  std::size_t seen = 0;
  for (const PciSlot& slot : LayOutPci(view, {}).slots) seen += slot.bus == view.pci[1].bus;
  EXPECT_EQ(seen, 1u);
}

TEST(PciSlotsTest, AFullBusContinuesInASpareDomain) {
  // 40 switches below one, each with a bus of its own: more than a bus has devices.
  topology::HostView view = SmallMachine();
  const topology::PciDevice leaf = view.pci[1];
  std::set<BusId> taken;
  for (std::uint8_t device = 0; device < 32; ++device)
    for (std::uint8_t function = 0; function < 8; ++function)
      taken.insert(BusId::Of(0, 0x42, device, function));
  EXPECT_THAT(PathsOf(LayOutPci(view, taken)).at(ToString(leaf.bus)),
              testing::HasSubstr("0000:41:00.0/10000:42:00.0/"));
}

}  // namespace
}  // namespace ringlet::testbed
