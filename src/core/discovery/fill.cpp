#include "discovery/fill.hpp"

#include <algorithm>
#include <map>

namespace ringlet::discovery {
namespace {

using topology::BusId;
using topology::Gpu;
using topology::HostView;
using topology::NetInterface;
using topology::NumaNode;
using topology::Part;
using topology::PartKind;
using topology::PciDevice;

template <typename T>
void FillIn(std::optional<T>& value, const std::optional<T>& other) {
  if (!value) value = other;
}
template <typename T>
void FillIn(T& number, const T& other) requires std::is_integral_v<T> {
  if (number == 0) number = other;
}
template <typename T>
void FillIn(T& list, const T& other) requires requires {
  list.empty();
}
{
  if (list.empty()) list = other;
}

/// Maps the parts of the detected view to the given view.
class Filler {
 public:
  Filler(HostView& view, const HostView& detected) : view_(view), detected_(detected) {}

  void Run() {
    FillNodes();
    for (std::uint32_t i = 0; i < view_.pci.size(); ++i) by_bus_.emplace(view_.pci[i].bus, i);
    for (const PciDevice& device : detected_.pci) {
      const auto own = by_bus_.find(device.bus);
      if (own != by_bus_.end()) FillPci(view_.pci[own->second], device);
    }
    FillGpus();
    FillNets();
  }

 private:
  void FillNodes() {
    view_.identity = detected_.identity;
    view_.name = detected_.name;
    for (NumaNode& node : view_.numa_nodes) node.host.reset();
    topology::CpuModel& cpu = view_.cpu;
    if (cpu.arch.empty()) cpu = detected_.cpu;
    FillIn(cpu.name, detected_.cpu.name);
    for (const NumaNode& other : detected_.numa_nodes) {
      const auto own = FindNode(other.id);
      if (own) {
        NumaNode& node = view_.numa_nodes[*own];
        FillIn(node.cpus, other.cpus);
        FillIn(node.memory_bytes, other.memory_bytes);
      } else if (other.id != topology::kUnknownNuma) {
        NumaNode node = other;
        node.distances.clear();
        view_.numa_nodes.push_back(std::move(node));
      }
    }
    FillDistances();
  }

  std::optional<std::uint32_t> FindNode(std::uint32_t id) const {
    const std::vector<NumaNode>& nodes = view_.numa_nodes;
    const auto at = std::find_if(nodes.begin(), nodes.end(),
                                 [&](const NumaNode& node) { return node.id == id; });
    return at == nodes.end() ? std::nullopt
                             : std::optional(static_cast<std::uint32_t>(at - nodes.begin()));
  }

  /// Uses the machine's distances if it knows all nodes; else the file's, if no node was added.
  void FillDistances() {
    std::vector<NumaNode>& nodes = view_.numa_nodes;
    const bool whole = std::all_of(nodes.begin(), nodes.end(), [&](const NumaNode& node) {
      return node.distances.size() == nodes.size();
    });
    if (whole) return;
    std::vector<std::size_t> place;  // in `detected`
    for (const NumaNode& node : nodes) {
      const auto& others = detected_.numa_nodes;
      const auto at = std::find_if(others.begin(), others.end(),
                                   [&](const NumaNode& other) { return other.id == node.id; });
      if (at != others.end() && !at->distances.empty())
        place.push_back(static_cast<std::size_t>(at - others.begin()));
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i].distances.clear();
      if (place.size() != nodes.size()) continue;
      for (const std::size_t other : place)
        nodes[i].distances.push_back(detected_.numa_nodes[place[i]].distances[other]);
    }
  }

  static void FillPci(PciDevice& device, const PciDevice& other) {
    FillIn(device.device_class, other.device_class);
    FillIn(device.ids.vendor, other.ids.vendor);
    FillIn(device.ids.device, other.ids.device);
    FillIn(device.ids.subsystem_vendor, other.ids.subsystem_vendor);
    FillIn(device.ids.subsystem_device, other.ids.subsystem_device);
    if (device.link_speed.text.empty()) device.link_speed = other.link_speed;
    FillIn(device.link_width, other.link_width);
    FillIn(device.peers, other.peers);
  }

  /// Returns the index of a detected function; adds the function and its ancestors if missing.
  std::uint32_t PciAt(std::uint32_t index) {
    const PciDevice& device = detected_.pci[index];
    const auto own = by_bus_.find(device.bus);
    if (own != by_bus_.end()) return own->second;
    PciDevice added = device;
    added.parent = device.parent.kind == PartKind::kPci
                       ? Part{PartKind::kPci, PciAt(device.parent.index)}
                       : Part{PartKind::kNuma, NodeAt(device.parent.index)};
    const auto at = static_cast<std::uint32_t>(view_.pci.size());
    view_.pci.push_back(std::move(added));
    by_bus_.emplace(device.bus, at);
    return at;
  }

  std::uint32_t NodeAt(std::uint32_t index) {
    const NumaNode& other = detected_.numa_nodes[index];
    if (const auto own = FindNode(other.id)) return *own;
    NumaNode node = other;
    node.distances.clear();
    for (NumaNode& each : view_.numa_nodes) each.distances.clear();
    view_.numa_nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(view_.numa_nodes.size() - 1);
  }

  void FillGpus() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> at_pci;  // GPUs of `given`
    for (std::uint32_t i = 0; i < view_.gpus.size(); ++i) at_pci[view_.gpus[i].pci].push_back(i);
    for (const Gpu& other : detected_.gpus) {
      const std::uint32_t pci = PciAt(other.pci);
      const auto own = at_pci.find(pci);
      if (own == at_pci.end()) {
        view_.gpus.push_back(other);
        view_.gpus.back().pci = pci;
        continue;
      }
      for (const std::uint32_t i : own->second) FillGpu(view_.gpus[i], other);
    }
  }

  static void FillGpu(Gpu& gpu, const Gpu& other) {
    if (gpu.mlopart && other.mlopart && *gpu.mlopart != *other.mlopart) return;
    FillIn(gpu.dev, other.dev);
    FillIn(gpu.compute_capability, other.compute_capability);
    FillIn(gpu.gdr, other.gdr);
    FillIn(gpu.mlopart, other.mlopart);
    FillIn(gpu.links, other.links);
    FillIn(gpu.c2c, other.c2c);
    FillIn(gpu.fabric, other.fabric);
  }

  void FillNets() {
    std::map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < view_.nets.size(); ++i) {
      by_name.emplace(view_.nets[i].name, i);
      if (view_.nets[i].nic)
        nic_at_.emplace(view_.nics[*view_.nets[i].nic].parent, *view_.nets[i].nic);
    }
    for (const NetInterface& other : detected_.nets) {
      auto own = by_name.find(other.name);
      if (own == by_name.end() && !other.rdma_device.empty()) own = by_name.find(other.rdma_device);
      if (own == by_name.end()) {
        AddNet(other);
      } else {
        FillNet(view_.nets[own->second], other);
      }
    }
  }

  /// Returns the NIC of a detected interface.
  std::optional<std::uint32_t> NicOf(const NetInterface& other) {
    if (!other.nic) return std::nullopt;
    const Part& parent = detected_.nics[*other.nic].parent;
    const Part own = parent.kind == PartKind::kPci ? Part{PartKind::kPci, PciAt(parent.index)}
                                                   : Part{PartKind::kNuma, NodeAt(parent.index)};
    const auto [nic, fresh] = nic_at_.emplace(own, static_cast<std::uint32_t>(view_.nics.size()));
    if (fresh) view_.nics.push_back({.parent = own});
    return nic->second;
  }

  void AddNet(const NetInterface& other) {
    NetInterface net = other;
    net.nic = NicOf(other);
    net.dev = static_cast<std::uint32_t>(view_.nets.size());
    view_.nets.push_back(std::move(net));
  }

  void FillNet(NetInterface& net, const NetInterface& other) {
    if (!net.nic) net.nic = NicOf(other);
    FillIn(net.speed_mbit_per_s, other.speed_mbit_per_s);
    FillIn(net.numa, other.numa);
    if (net.kind == topology::NetKind::kUnknown) net.kind = other.kind;
    FillIn(net.rdma_device, other.rdma_device);
    FillIn(net.members, other.members);
    FillIn(net.dev, other.dev);
    FillIn(net.port, other.port);
    FillIn(net.guid, other.guid);
    FillIn(net.gdr, other.gdr);
  }

  HostView& view_;
  const HostView& detected_;
  std::map<BusId, std::uint32_t> by_bus_;
  std::map<Part, std::uint32_t> nic_at_;
};

}  // namespace

Result<HostView> Fill(HostView given, const HostView& detected) {
  Filler(given, detected).Run();
  RINGLET_TRY(given.Check());
  return given;
}

}  // namespace ringlet::discovery
