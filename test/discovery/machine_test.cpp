// Discovers machines with a known topology dump again, from their reconstructed /sys and driver.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "discovery/nvml.hpp"
#include "discovery/scan.hpp"
#include "machine.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::discovery {
namespace {

using os::FileTree;
using os::TempTree;
using testing::ElementsAreArray;
using topology::HostView;
using topology::PartKind;

class MachineTest : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Dumped, MachineTest,
                         testing::Values("ucb_dgx1v", "hgx_h200_8x_vastai", "hgx_b200_8x_vastai",
                                         "dgx_a100_xla", "gcp_a3_h100", "3090x8_panlichen",
                                         "perlmutter_a100_nid001056", "H100"),
                         [](const auto& machine) { return "file_" + std::string(machine.param); });

std::string Generation(const topology::PcieSpeed& speed) {
  return speed.text.empty() ? "-" : fmt::format("gen {}", speed.generation);
}

/// Drivers report "fffffff:ff:ff.0" for a switch outside a virtual machine.
std::string Target(const topology::GpuLink& link) {
  constexpr std::uint32_t kHiddenDomain = 0x0fffffff;
  return link.target && link.target->domain() != kHiddenDomain ? ToString(*link.target) : "hidden";
}

/// "numa 0 / 0000:03:00.0 / 0000:06:00.0" with its contents, per PCI function; in order.
std::vector<std::string> Functions(const HostView& view) {
  std::vector<std::string> paths, lines;
  for (const topology::PciDevice& device : view.pci) {
    const std::string above = device.parent.kind == PartKind::kPci
                                  ? paths[device.parent.index]
                                  : fmt::format("numa {}", view.numa_nodes[device.parent.index].id);
    paths.push_back(above + " / " + ToString(device.bus));
    lines.push_back(fmt::format("{} class {} ids {:016x} {} x{}", paths.back(),
                                device.device_class ? ToString(*device.device_class) : "",
                                device.ids.packed(), Generation(device.link_speed),
                                device.link_width));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> Gpus(const HostView& view) {
  std::vector<std::string> lines;
  for (const topology::Gpu& gpu : view.gpus) {
    std::string line = fmt::format("{} dev {} sm {}", ToString(view.pci[gpu.pci].bus),
                                   gpu.dev.value_or(999), gpu.compute_capability);
    for (const topology::GpuLink& link : gpu.links)
      line += fmt::format(" {}x{}({})", link.count, Target(link),
                          link.target_class ? ToString(*link.target_class) : "");
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> Nodes(const HostView& view) {
  std::vector<std::string> lines;
  for (const topology::NumaNode& node : view.numa_nodes)
    lines.push_back(fmt::format("{} {}", node.id, ToString(node.cpus)));
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST_P(MachineTest, DiscoveryReproducesTheDump) {
  const FileTree fixtures = FileTree::Open(FIXTURES).value();
  const std::string path = std::string("topologies/nvidia/") + GetParam() + ".topo.xml";
  const HostView dumped = topology::ViewFromXml(fixtures.Read(path).value(), path).value();

  TempTree tree;
  WriteMachine(tree, dumped);
  tree.Write("machine", ToText(GpusOf(dumped)));
  const Variable file("NVML_STAND_IN", tree.At("machine"));
  Nvml driver(NVML_NEW);
  const FileTree files = FileTree::Open(tree.root()).value();
  const HostScan scan = Scan(files, {.host_name = "", .gpus = &driver}).value();

  EXPECT_THAT(Functions(scan.view), ElementsAreArray(Functions(dumped)));
  EXPECT_THAT(Gpus(scan.view), ElementsAreArray(Gpus(dumped)));
  EXPECT_THAT(Nodes(scan.view), ElementsAreArray(Nodes(dumped)));
  EXPECT_EQ(scan.view.cpu.vendor, dumped.cpu.vendor);
  EXPECT_EQ(scan.view.cpu.model, dumped.cpu.model);
}

}  // namespace
}  // namespace ringlet::discovery
