#include "topology/view/host_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/value/digest.hpp"
#include "topology/view/refuse.hpp"

namespace ringlet::topology {
namespace {

bool TooLong(std::string_view name) {
  return name.size() > HostView::kNameBytesMax;
}

bool TooLong(const CpuModel& cpu) {
  return TooLong(cpu.arch) || TooLong(cpu.vendor) || TooLong(cpu.name);
}

/// Formats an id. The unknown node is "-1".
std::string NumaText(std::uint32_t id) {
  return id == kUnknownNuma ? "-1" : fmt::format("{}", id);
}

Status CheckNumaNodes(const HostView& view) {
  const std::vector<NumaNode>& nodes = view.numa_nodes;
  if (nodes.empty() || nodes.size() > HostView::kNumaNodesMax)
    return Refuse(fmt::format("a host has 1 to {} NUMA nodes, not {}", HostView::kNumaNodesMax,
                              nodes.size()));
  std::set<std::pair<std::uint64_t, std::uint32_t>> seen;
  for (const NumaNode& node : nodes) {
    if (!seen.emplace(view.HostOf(node), node.id).second)
      return Refuse(fmt::format("NUMA node {} occurs twice", NumaText(node.id)));
    const std::size_t distances = node.distances.size();
    if (distances != 0 && distances != nodes.size())
      return Refuse(fmt::format("NUMA node {} has {} distances to {} nodes", NumaText(node.id),
                                distances, nodes.size()));
    if (node.cpu && TooLong(*node.cpu))
      return Refuse(fmt::format("the processor of NUMA node {} has a name of more than {} bytes",
                                NumaText(node.id), HostView::kNameBytesMax));
  }
  return Ok();
}

Status CheckPci(const HostView& view) {
  if (view.pci.size() > HostView::kPciMax)
    return Refuse(fmt::format("{} PCI functions are too many", view.pci.size()));
  std::vector<std::size_t> depths;
  for (std::size_t i = 0; i < view.pci.size(); ++i) {
    const PciDevice& device = view.pci[i];
    const bool below_pci = device.parent.kind == PartKind::kPci && device.parent.index < i;
    const bool below_numa =
        device.parent.kind == PartKind::kNuma && device.parent.index < view.numa_nodes.size();
    if (!below_pci && !below_numa)
      return Refuse(fmt::format("PCI function {} lacks a parent before it", ToString(device.bus)));
    depths.push_back(below_pci ? depths[device.parent.index] + 1 : 1);
    if (depths.back() > HostView::kDepthMax)
      return Refuse(fmt::format("PCI function {} lies more than {} levels deep",
                                ToString(device.bus), HostView::kDepthMax));
    if (TooLong(device.link_speed.text) || device.peers.size() > HostView::kLinksMax)
      return Refuse(fmt::format("PCI function {} has too long a speed or more than {} peers",
                                ToString(device.bus), HostView::kLinksMax));
  }
  return Ok();
}

Status CheckGpus(const HostView& view) {
  if (view.gpus.size() > HostView::kGpusMax)
    return Refuse(fmt::format("{} GPUs are too many", view.gpus.size()));
  for (std::size_t i = 0; i < view.gpus.size(); ++i) {
    const Gpu& gpu = view.gpus[i];
    if (gpu.pci >= view.pci.size())
      return Refuse(fmt::format("GPU {} is at no PCI function of the host", i));
    if (gpu.links.size() > HostView::kLinksMax || gpu.c2c.size() > HostView::kLinksMax)
      return Refuse(fmt::format("GPU {} has more than {} links", i, HostView::kLinksMax));
    if (TooLong(gpu.gcn))
      return Refuse(
          fmt::format("GPU {} has a name of more than {} bytes", i, HostView::kNameBytesMax));
    if (gpu.fabric && gpu.fabric->cluster == std::array<std::uint64_t, 2>{})
      return Refuse(fmt::format("GPU {} is in an NVLink domain without an id", i));
  }
  return Ok();
}

Status CheckNics(const HostView& view) {
  if (view.nics.size() > HostView::kNicsMax)
    return Refuse(fmt::format("{} NICs are too many", view.nics.size()));
  for (std::size_t i = 0; i < view.nics.size(); ++i) {
    const Part& parent = view.nics[i].parent;
    const bool known = (parent.kind == PartKind::kPci && parent.index < view.pci.size()) ||
                       (parent.kind == PartKind::kNuma && parent.index < view.numa_nodes.size());
    if (!known) return Refuse(fmt::format("NIC {} lacks a parent", i));
  }
  return Ok();
}

Status CheckNet(const HostView& view, const NetInterface& net, std::size_t number) {
  const bool long_member = std::any_of(net.members.begin(), net.members.end(),
                                       [](const std::string& name) { return TooLong(name); });
  if (TooLong(net.name) || TooLong(net.rdma_device) || long_member)
    return Refuse(fmt::format("network interface {} has a name of more than {} bytes", number,
                              HostView::kNameBytesMax));
  if (net.members.size() > HostView::kLinksMax)
    return Refuse(fmt::format("network interface {} has too many members", net.name));
  const bool known = std::any_of(view.numa_nodes.begin(), view.numa_nodes.end(),
                                 [&](const NumaNode& node) { return node.id == net.numa; });
  if (net.numa && !known)
    return Refuse(fmt::format("network interface {} is at NUMA node {}, which the host lacks",
                              net.name, NumaText(*net.numa)));
  if (net.nic && *net.nic >= view.nics.size())
    return Refuse(
        fmt::format("network interface {} is on NIC {}, which the host lacks", net.name, *net.nic));
  if (net.speed_mbit_per_s == 0u)
    return Refuse(fmt::format("network interface {} has an impossible speed", net.name));
  return Ok();
}

Status CheckNets(const HostView& view) {
  if (view.nets.size() > HostView::kNetsMax)
    return Refuse(fmt::format("{} network interfaces are too many", view.nets.size()));
  for (std::size_t i = 0; i < view.nets.size(); ++i) RINGLET_TRY(CheckNet(view, view.nets[i], i));
  return Ok();
}

bool Exists(const HostView& view, const Part& part) {
  const auto within = [&](const auto& parts) { return part.index < parts.size(); };
  switch (part.kind) {
    case PartKind::kSystem: return part.index == 0;
    case PartKind::kNuma: return within(view.numa_nodes);
    case PartKind::kPci: return within(view.pci);
    case PartKind::kGpu: return within(view.gpus);
    case PartKind::kNic: return within(view.nics);
    case PartKind::kNet: return within(view.nets);
    case PartKind::kGpuLink:
      return within(view.gpus) && part.item < view.gpus[part.index].links.size();
    case PartKind::kC2c: return within(view.gpus) && part.item < view.gpus[part.index].c2c.size();
    case PartKind::kPciLink:
      return within(view.pci) && part.item < view.pci[part.index].peers.size();
  }
  return false;
}

Status CheckUnknown(const HostView& view) {
  if (view.unknown_attributes.size() > HostView::kUnknownMax ||
      view.unknown_elements.size() > HostView::kUnknownMax)
    return Refuse("there are too many unknown attributes or elements");
  for (const UnknownAttribute& attribute : view.unknown_attributes) {
    if (!Exists(view, attribute.part) || TooLong(attribute.name) ||
        attribute.value.size() > HostView::kUnknownBytesMax)
      return Refuse("an unknown attribute lacks its element, or is too long");
  }
  for (const UnknownElement& element : view.unknown_elements)
    if (!Exists(view, element.parent) || element.xml.size() > HostView::kUnknownBytesMax)
      return Refuse("an unknown element lacks its parent, or is too long");
  return Ok();
}

}  // namespace

Status HostView::Check() const {
  if (TooLong(name) || TooLong(cpu))
    return Refuse(fmt::format("a name of the host has more than {} bytes", kNameBytesMax));
  RINGLET_TRY(CheckNumaNodes(*this));
  RINGLET_TRY(CheckPci(*this));
  RINGLET_TRY(CheckGpus(*this));
  RINGLET_TRY(CheckNics(*this));
  RINGLET_TRY(CheckNets(*this));
  return CheckUnknown(*this);
}

std::uint64_t HostView::digest() const {
  HostView lasting = *this;
  lasting.cpu.name.clear();
  for (NumaNode& node : lasting.numa_nodes) {
    node.memory_bytes = 0;
    if (node.cpu) node.cpu->name.clear();
  }
  Writer out;
  Encode(out, lasting);
  return DigestOf(out.view());
}

std::optional<std::uint32_t> HostView::NumaIndexOf(Part part) const {
  for (std::size_t step = 0; step < kDepthMax + 4; ++step) {
    switch (part.kind) {
      case PartKind::kSystem: return std::nullopt;
      case PartKind::kNuma: return part.index;
      case PartKind::kPci: part = pci[part.index].parent; break;
      case PartKind::kNic: part = nics[part.index].parent; break;
      case PartKind::kPciLink: part = {PartKind::kPci, part.index}; break;
      case PartKind::kGpu:
      case PartKind::kGpuLink:
      case PartKind::kC2c: part = {PartKind::kPci, gpus[part.index].pci}; break;
      case PartKind::kNet: {
        const NetInterface& net = nets[part.index];
        if (net.nic) {
          part = {PartKind::kNic, *net.nic};
          break;
        }
        const auto at = std::find_if(numa_nodes.begin(), numa_nodes.end(),
                                     [&](const NumaNode& node) { return node.id == net.numa; });
        if (at == numa_nodes.end()) return std::nullopt;
        return static_cast<std::uint32_t>(at - numa_nodes.begin());
      }
    }
  }
  return std::nullopt;
}

std::uint64_t HostIdentity(std::string_view host_name, std::string_view boot_id,
                           std::string_view host_id) {
  Writer out;
  if (host_id.empty()) {
    out.U8(0).Text(host_name).Text(boot_id);
  } else {
    out.U8(1).Text(host_id);
  }
  return std::max<std::uint64_t>(DigestOf(out.view()), 1);
}

}  // namespace ringlet::topology
