#include "emulate/host/machine_facts.hpp"

#include <gmock/gmock.h>

#include "topo/edit/synthetic.hpp"

namespace ringlet::cuda {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

topology::HostView View(const char* words) {
  return topology::ParseSynthetic(words).value();
}

MachineFacts Facts(const topology::HostView& view) {
  return MachineFacts::Of(view, 0).value();
}

TEST(MachineFactsTest, PlainDevicesHaveOwnAddressesAndReachEachOther) {
  const MachineFacts machine = MachineFacts::Plain(3, 0);
  ASSERT_EQ(machine.devices(), 3u);
  EXPECT_EQ(PciText(machine[2].pci), "5249:03:00.0");
  EXPECT_EQ(machine.At({0x5249, 2, 0, 0}), 1u);
  EXPECT_EQ(machine.At({0x5249, 9, 0, 0}), std::nullopt);
  EXPECT_EQ(machine.Peer(0, 1), PeerPath::kPci);
  EXPECT_EQ(machine.Peer(1, 1), PeerPath::kNone);
  EXPECT_NE(machine[0].uuid, MachineFacts::Plain(1, 1)[0].uuid);
}

TEST(MachineFactsTest, ADeviceHasThePropertiesInTheFile) {
  topology::HostView view = View("(numa: gpu a10g), (numa: (switch: gpu h100-sxm5 switch))");
  view.gpus[0].dev = 1;
  view.gpus[1].dev = 0;
  view.gpus[1].c2c = {{44'712, 10}};
  view.gpus[1].fabric = topology::NvlinkFabric{{0x0102030405060708, 0x090a0b0c0d0e0f10}, 7};
  view.pci[view.gpus[1].pci].ids.subsystem_vendor = 0x10de;
  view.pci[view.gpus[1].pci].ids.subsystem_device = 0x16c1;
  const MachineFacts machine = Facts(view);
  ASSERT_EQ(machine.devices(), 2u);
  const CudaDeviceFacts& device = machine[0];
  EXPECT_EQ(device.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(device.capability, 90u);
  EXPECT_EQ(device.processors, 132);
  EXPECT_EQ(device.memory_bytes, std::uint64_t{80} << 30);
  EXPECT_EQ(device.pci_id, 0x233010deu);
  EXPECT_EQ(device.pci_subsystem_id, 0x16c110deu);
  EXPECT_EQ(device.pcie_generation, 5u);
  EXPECT_EQ(device.pcie_width, 16u);
  EXPECT_EQ(device.numa, 1u);
  EXPECT_THAT(device.cpus, ElementsAre(0xffff0000u));
  EXPECT_THAT(device.links, SizeIs(18));
  EXPECT_THAT(device.links, Each(LinkEnd{LinkEndKind::kSwitch, std::nullopt}));
  ASSERT_TRUE(device.processor_links);
  EXPECT_EQ(device.processor_links->count, 10u);
  ASSERT_TRUE(device.domain);
  EXPECT_EQ(device.domain->clique, 7u);
  EXPECT_EQ(device.domain->cluster[0], 1);
  EXPECT_EQ(device.domain->cluster[15], 0x10);
  EXPECT_EQ(machine[1].name, "NVIDIA A10G");
  EXPECT_EQ(machine[1].numa, 0u);
}

TEST(MachineFactsTest, NamesAnUnknownModelByItsCapability) {
  const MachineFacts machine = Facts(View("gpu"));
  EXPECT_EQ(machine[0].name, "NVIDIA GPU (sm_80)");
  EXPECT_EQ(machine[0].memory_bytes, 0u);
}

TEST(MachineFactsTest, MeshLinksLeadToThePeerDevices) {
  const topology::HostView view = View("4 gpu a100-sxm4 mesh");
  const MachineFacts machine = Facts(view);
  ASSERT_THAT(machine[0].links, SizeIs(12));
  EXPECT_EQ(machine[0].links[0], (LinkEnd{LinkEndKind::kGpu, machine[1].pci}));
  EXPECT_EQ(machine[0].links[11], (LinkEnd{LinkEndKind::kGpu, machine[3].pci}));
  EXPECT_EQ(machine.Peer(0, 3), PeerPath::kNvLink);
}

TEST(MachineFactsTest, NearnessFollowsFromTheTopologyInTheFile) {
  const MachineFacts machine =
      Facts(View("(numa: (switch: (switch: 2 gpu), (switch: gpu)), gpu), (numa: gpu)"));
  EXPECT_EQ(machine.Nearness(0, 0), DeviceNearness::kSame);
  EXPECT_EQ(machine.Nearness(0, 1), DeviceNearness::kSwitch);
  EXPECT_EQ(machine.Nearness(1, 2), DeviceNearness::kSwitches);
  EXPECT_EQ(machine.Nearness(2, 0), DeviceNearness::kSwitches);
  EXPECT_EQ(machine.Nearness(0, 3), DeviceNearness::kNode);
  EXPECT_EQ(machine.Nearness(3, 4), DeviceNearness::kSystem);
}

TEST(MachineFactsTest, PeerPathsMatchTheDriver) {
  const char* words = "2x(numa: 2 gpu a100-pcie pairs)";
  topology::HostView view = View(words);
  const MachineFacts intel = Facts(view);
  EXPECT_EQ(intel.Peer(0, 1), PeerPath::kNvLink);
  EXPECT_EQ(intel.Peer(1, 2), PeerPath::kNone);
  view.cpu.vendor = "AuthenticAMD";
  EXPECT_EQ(Facts(view).Peer(1, 2), PeerPath::kPci);
  EXPECT_EQ(Facts(View("2 gpu a10g")).Peer(0, 1), PeerPath::kPci);
  EXPECT_EQ(Facts(View("2 gpu rtx3090")).Peer(0, 1), PeerPath::kNone);
  EXPECT_EQ(Facts(View("2 gpu rtx3090 pairs")).Peer(0, 1), PeerPath::kNvLink);
}

TEST(MachineFactsTest, RefusesGpusWithMissingOrRepeatedNumbers) {
  topology::HostView view = View("2 gpu");
  view.gpus[1].dev = 0;
  EXPECT_THAT(MachineFacts::Of(view, 0).error().message, HasSubstr("0000:02:00.0"));
  view.gpus[1].dev = 2;
  EXPECT_FALSE(MachineFacts::Of(view, 0).ok());
  view.gpus[1].dev = 1;
  view.gpus[1].compute_capability = 0;
  EXPECT_THAT(MachineFacts::Of(view, 0).error().message, HasSubstr("sm"));
}

TEST(MachineFactsTest, KeepsTheFirstDevicesWhenFewerAreVisible) {
  MachineFacts machine = MachineFacts::Plain(4, 0);
  machine.LimitDevices(2);
  EXPECT_EQ(machine.devices(), 2u);
  EXPECT_EQ(machine.At({0x5249, 4, 0, 0}), std::nullopt);
  machine.LimitDevices(9);
  EXPECT_EQ(machine.devices(), 2u);
}

}  // namespace
}  // namespace ringlet::cuda
