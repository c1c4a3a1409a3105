#include "machine.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <vector>

namespace ringlet::discovery {
namespace {

using topology::BusId;
using topology::HostView;
using topology::PartKind;
using topology::PciDevice;

/// Returns the folders below /sys/devices of each function. A bridge of a view is the upstream port
/// of a switch, so this adds a port between it and its children, on a domain of its own.
std::vector<std::string> Folders(const HostView& view) {
  std::vector<std::string> folders;
  for (std::size_t i = 0; i < view.pci.size(); ++i) {
    const PciDevice& device = view.pci[i];
    const auto port =
        BusId::Of(0xfff0, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i & 0x1f),
                  static_cast<std::uint8_t>(i >> 5 & 7));
    const std::string above = device.parent.kind == PartKind::kPci
                                  ? folders[device.parent.index]
                                  : fmt::format("pci0000:{:02x}", device.parent.index);
    folders.push_back(fmt::format("{}/{}/{}", above, ToString(port), ToString(device.bus)));
  }
  return folders;
}

void WriteFunctions(os::TempTree& tree, const HostView& view,
                    const std::vector<std::string>& folders) {
  tree.Directory("sys/bus/pci/devices");
  for (std::size_t i = 0; i < view.pci.size(); ++i) {
    const PciDevice& device = view.pci[i];
    const std::string folder = "sys/devices/" + folders[i] + "/";
    tree.Link("sys/bus/pci/devices/" + ToString(device.bus), "../../../devices/" + folders[i]);
    tree.Directory(folder);
    if (device.device_class) tree.Write(folder + "class", ToString(*device.device_class) + "\n");
    const auto id = [&](const char* name, std::uint16_t value) {
      if (value != 0) tree.Write(folder + name, fmt::format("{:#06x}\n", value));
    };
    id("vendor", device.ids.vendor);
    id("device", device.ids.device);
    id("subsystem_vendor", device.ids.subsystem_vendor);
    id("subsystem_device", device.ids.subsystem_device);
    if (!device.link_speed.text.empty())
      tree.Write(folder + "max_link_speed", device.link_speed.text + "\n");
    if (device.link_width != 0)
      tree.Write(folder + "max_link_width", fmt::format("{}\n", device.link_width));
    const auto numa = view.NumaIndexOf({PartKind::kPci, static_cast<std::uint32_t>(i)});
    tree.Write(folder + "numa_node", fmt::format("{}\n", view.numa_nodes[*numa].id));
  }
}

void WriteNodes(os::TempTree& tree, const HostView& view) {
  tree.Write("proc/cpuinfo",
             fmt::format("processor : 0\nvendor_id : {}\ncpu family : {}\nmodel : {}\n",
                         view.cpu.vendor, view.cpu.family, view.cpu.model));
  for (const topology::NumaNode& node : view.numa_nodes) {
    const std::string folder = fmt::format("sys/devices/system/node/node{}/", node.id);
    tree.Write(folder + "cpulist", ToString(node.cpus) + "\n");
    tree.Write(folder + "meminfo", fmt::format("Node {} MemTotal: 1024 kB\n", node.id));
  }
}

}  // namespace

void WriteMachine(os::TempTree& tree, const HostView& view) {
  const std::vector<std::string> folders = Folders(view);
  WriteFunctions(tree, view, folders);
  WriteNodes(tree, view);
  tree.Directory("sys/class/net").Directory("sys/class/infiniband");
  for (const topology::NetInterface& net : view.nets) {
    if (!net.nic || view.nics[*net.nic].parent.kind != PartKind::kPci) continue;
    const std::string& above = folders[view.nics[*net.nic].parent.index];
    const std::string folder = fmt::format("{}/net/{}", above, net.name);
    tree.Link("sys/devices/" + folder + "/device",
              "../../../" + above.substr(above.rfind('/') + 1));
    if (net.speed_mbit_per_s)
      tree.Write("sys/devices/" + folder + "/speed", fmt::format("{}\n", *net.speed_mbit_per_s));
    tree.Link("sys/class/net/" + net.name, "../../devices/" + folder);
  }
}

GpuReport GpusOf(const HostView& view) {
  GpuReport report{.driver = "580.1"};
  for (const topology::Gpu& gpu : view.gpus) {
    const PciDevice& device = view.pci[gpu.pci];
    GpuReading facts;
    facts.index = gpu.dev.value_or(0);
    facts.bus = device.bus;
    facts.name = "NVIDIA \"Test\" GPU";
    facts.compute_capability = gpu.compute_capability;
    facts.ids = {.vendor = device.ids.vendor, .device = device.ids.device};
    facts.pcie_generation = device.link_speed.generation;
    facts.pcie_width = device.link_width;
    facts.links = gpu.links;
    for (topology::GpuLink& link : facts.links) link.target_class.reset();
    facts.c2c = gpu.c2c;
    facts.fabric = gpu.fabric;
    report.gpus.push_back(std::move(facts));
  }
  return report;
}

Variable::Variable(std::string name, const std::string& value) : name_(std::move(name)) {
  setenv(name_.c_str(), value.c_str(), 1);
}

Variable::~Variable() {
  unsetenv(name_.c_str());
}

}  // namespace ringlet::discovery
