#include "tool/topo/topo_tree.hpp"

#include <fmt/format.h>

#include "base/value/text.hpp"
#include "tool/text/plural.hpp"
#include "topology/graph/bandwidth.hpp"
#include "topology/view/host_tree.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::cli {
namespace {

using topology::GpuLink;
using topology::HostView;
using topology::NumaNode;
using topology::Part;
using topology::PartKind;
using topology::PciDevice;
using topology::PciRole;

constexpr std::size_t kTextBytesShown = 60;

class TreeWriter {
 public:
  explicit TreeWriter(const HostView& view) : view_(view), tree_(view) {}

  std::string Run() {
    out_ = view_.name.empty() ? "host" : "host " + Printable(view_.name, kTextBytesShown);
    out_ += ModelText(view_.cpu) + "\n";
    for (const Part& part : tree_.Below({PartKind::kSystem})) WriteNuma(part);
    WriteInterconnect();
    return std::move(out_);
  }

 private:
  static std::string ModelText(const topology::CpuModel& cpu) {
    std::string text;
    if (!cpu.arch.empty()) text += ", " + Printable(cpu.arch, kTextBytesShown);
    if (!cpu.name.empty()) return text + ", " + Printable(cpu.name, kTextBytesShown);
    if (!cpu.vendor.empty()) text += ", " + Printable(cpu.vendor, kTextBytesShown);
    if (cpu.family != 0) text += fmt::format(" family {} model {}", cpu.family, cpu.model);
    return text;
  }

  void Line(std::size_t depth, std::string_view text) {
    out_ += fmt::format("{:{}}{}\n", "", 2 * depth, text);
  }

  static std::string NumaName(const NumaNode& node) {
    return node.id == topology::kUnknownNuma ? "NUMA node of unknown number"
                                             : fmt::format("NUMA node {}", node.id);
  }

  void WriteNuma(Part part) {
    const NumaNode& node = view_.numa_nodes[part.index];
    std::string text = NumaName(node);
    if (!node.cpus.empty()) text += fmt::format(", CPUs {}", ToString(node.cpus));
    if (node.memory_bytes != 0)
      text += fmt::format(", {} GiB", (node.memory_bytes + (1u << 29)) >> 30);
    if (node.cpu) text += ModelText(*node.cpu);
    if (node.host) text += fmt::format(", of host {:#018x}", *node.host);
    Line(1, text);
    WriteBelow(part, 2);
    for (const std::uint32_t net : tree_.loose_nets())
      if (view_.NumaIndexOf({PartKind::kNet, net}).value_or(0) == part.index)
        WriteNet(view_.nets[net], 2);
  }

  void WriteBelow(Part part, std::size_t depth) {
    for (const Part& below : tree_.Below(part)) {
      if (below.kind == PartKind::kPci) {
        WritePci(below, depth);
      } else if (below.kind == PartKind::kGpu) {
        WriteGpu(view_.gpus[below.index], depth);
      } else if (below.kind == PartKind::kNic) {
        WriteBelow(below, depth);
      } else {
        WriteNet(view_.nets[below.index], depth);
      }
    }
  }

  void WritePci(Part part, std::size_t depth) {
    const PciDevice& device = view_.pci[part.index];
    const PciRole role = device.device_class ? device.device_class->role() : PciRole::kOther;
    std::string text = fmt::format("{} {}", RoleName(role), ToString(device.bus));
    const topology::GpuModel* model = topology::FindGpuModel(device.ids);
    if (model != nullptr) text += fmt::format(", {}", model->name);
    text += ", " + LinkText(device);
    for (const topology::BusId peer : device.peers)
      text += fmt::format(", joined with {}", ToString(peer));
    Line(depth, text);
    WriteBelow(part, depth + 1);
  }

  static std::string LinkText(const PciDevice& device) {
    if (device.link_speed.generation == 0) return "PCIe link of unknown speed";
    const std::uint32_t lanes = device.link_width == 0 ? 16 : device.link_width;
    return fmt::format("PCIe {}.0 x{}{}, {}", device.link_speed.generation, lanes,
                       device.link_width == 0 ? " (unknown width)" : "",
                       SpeedText(topology::PcieLink(device.link_speed, lanes).mb_per_s));
  }

  void WriteGpu(const topology::Gpu& gpu, std::size_t depth) {
    std::string text = gpu.dev ? fmt::format("device {}", *gpu.dev) : "device of unknown number";
    if (gpu.rank) text += fmt::format(", rank {}", *gpu.rank);
    if (gpu.mlopart) text += fmt::format(", half {}", *gpu.mlopart);
    if (!gpu.gcn.empty()) {
      text += ", " + Printable(gpu.gcn, kTextBytesShown);
    } else if (gpu.compute_capability != 0) {
      text += fmt::format(", compute capability {}.{}", gpu.compute_capability / 10,
                          gpu.compute_capability % 10);
    }
    if (gpu.gdr) text += *gpu.gdr ? ", GPUDirect RDMA" : ", no GPUDirect RDMA";
    if (gpu.fabric)
      text += fmt::format(", in NVLink domain {:016x}{:016x} clique {}", gpu.fabric->cluster[0],
                          gpu.fabric->cluster[1], gpu.fabric->clique);
    Line(depth, text);
    for (const GpuLink& link : gpu.links) WriteLink(gpu, link, depth + 1);
    for (const topology::C2cLink& c2c : gpu.c2c)
      Line(depth + 1, fmt::format("{} to the processor, {}", Counted(c2c.count, "C2C link"),
                                  SpeedText(std::uint64_t{c2c.mb_per_s} * c2c.count)));
  }

  void WriteLink(const topology::Gpu& gpu, const GpuLink& link, std::size_t depth) {
    const bool xgmi = link.kind == topology::GpuLinkKind::kXgmi;
    const topology::Bandwidth one =
        xgmi ? topology::XgmiLink(gpu.gcn) : topology::NvLink(gpu.compute_capability);
    const PciRole role = link.target_class ? link.target_class->role() : PciRole::kOther;
    std::string target(RoleName(role));
    if (link.target) target += " " + ToString(*link.target);
    if (!link.target) target += " (not visible)";
    Line(depth, fmt::format("{} to {}, {}", Counted(link.count, xgmi ? "xGMI link" : "NVLink link"),
                            target, SpeedText(topology::Times(one, link.count).mb_per_s)));
  }

  void WriteNet(const topology::NetInterface& net, std::size_t depth) {
    std::string text = "net " + Printable(net.name, kTextBytesShown);
    if (!net.rdma_device.empty() && net.rdma_device != net.name)
      text += " (" + Printable(net.rdma_device, kTextBytesShown) + ")";
    text += net.speed_mbit_per_s
                ? fmt::format(", {} Mbit/s, {}", *net.speed_mbit_per_s,
                              SpeedText(topology::NetworkInterface(net.speed_mbit_per_s).mb_per_s))
                : ", unknown speed";
    if (net.dev) text += fmt::format(", device {}", *net.dev);
    if (net.port && *net.port != 0) text += fmt::format(", port {}", *net.port);
    if (!net.net_api.value_or(true)) text += ", not used by itself";
    if (net.gdr.value_or(false)) text += ", GPUDirect RDMA";
    if (net.collective.value_or(false)) text += ", in-network collectives";
    if (net.rail) text += fmt::format(", rail {}", *net.rail);
    if (net.plane) text += fmt::format(", plane {}", *net.plane);
    for (std::size_t i = 0; i < net.members.size(); ++i)
      text += (i == 0 ? ", of " : " and ") + Printable(net.members[i], kTextBytesShown);
    Line(depth, text);
  }

  /// Writes the links of each node to others of its host. They are equal unless processors differ.
  void WriteInterconnect() {
    for (std::size_t i = 0; i < view_.numa_nodes.size(); ++i) {
      const NumaNode& node = view_.numa_nodes[i];
      std::size_t others = 0;
      for (const NumaNode& other : view_.numa_nodes)
        if (&other != &node && view_.HostOf(other) == view_.HostOf(node)) ++others;
      if (others == 0) continue;
      const std::uint32_t speed = SocketInterconnect(view_.ModelOf(node)).mb_per_s;
      Line(1, fmt::format("from {} to {}, {}", NumaName(node),
                          others == 1 ? "the other" : fmt::format("each of {} others", others),
                          SpeedText(speed)));
    }
  }

  const HostView& view_;
  topology::HostTree tree_;
  std::string out_;
};

}  // namespace

std::string TreeText(const HostView& view) {
  return TreeWriter(view).Run();
}

std::string_view RoleName(PciRole role) {
  switch (role) {
    case PciRole::kBridge: return "switch";
    case PciRole::kNvSwitch: return "NVSwitch";
    case PciRole::kCpuBridge: return "CPU bridge";
    case PciRole::kGpu: return "GPU";
    case PciRole::kNic: return "NIC";
    case PciRole::kOther: break;
  }
  return "function";
}

std::string SpeedText(std::uint64_t mb_per_s) {
  if (mb_per_s < 1000) return fmt::format("{} MB/s", mb_per_s);
  std::string text = fmt::format("{}.{:03}", mb_per_s / 1000, mb_per_s % 1000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text + " GB/s";
}

}  // namespace ringlet::cli
