#include "topology/view/host_tree.hpp"

#include <algorithm>

namespace ringlet::topology {
namespace {

template <typename T>
std::uint32_t Count(const std::vector<T>& parts) {
  return static_cast<std::uint32_t>(parts.size());
}

/// The lowest NIC at or below each PCI function. The number of NICs if none is there.
std::vector<std::uint32_t> FirstNics(const HostView& view) {
  std::vector<std::uint32_t> first(view.pci.size(), Count(view.nics));
  for (std::uint32_t nic = Count(view.nics); nic-- > 0;)
    if (view.nics[nic].parent.kind == PartKind::kPci) first[view.nics[nic].parent.index] = nic;
  for (std::size_t i = view.pci.size(); i-- > 0;) {  // parents precede their children
    const Part& parent = view.pci[i].parent;
    if (parent.kind == PartKind::kPci)
      first[parent.index] = std::min(first[parent.index], first[i]);
  }
  return first;
}

}  // namespace

HostTree::HostTree(const HostView& view)
    : numa_(view.numa_nodes.size()), pci_(view.pci.size()), nics_(view.nics.size()) {
  for (std::uint32_t i = 0; i < Count(view.numa_nodes); ++i)
    system_.push_back({PartKind::kNuma, i});
  for (std::uint32_t i = 0; i < Count(view.gpus); ++i)
    pci_[view.gpus[i].pci].push_back({PartKind::kGpu, i});
  for (std::uint32_t i = 0; i < Count(view.nics); ++i)
    if (view.nics[i].parent.kind == PartKind::kPci)
      pci_[view.nics[i].parent.index].push_back({PartKind::kNic, i});
  for (std::uint32_t i = 0; i < Count(view.pci); ++i)
    if (view.pci[i].parent.kind == PartKind::kPci)
      pci_[view.pci[i].parent.index].push_back({PartKind::kPci, i});
  AddNuma(view);
  for (std::uint32_t i = 0; i < Count(view.nets); ++i) {
    const std::optional<std::uint32_t> nic = view.nets[i].nic;
    if (nic) {
      nics_[*nic].push_back({PartKind::kNet, i});
    } else {
      loose_nets_.push_back(i);
    }
  }
}

void HostTree::AddNuma(const HostView& view) {
  const std::vector<std::uint32_t> first_nics = FirstNics(view);
  std::vector<std::vector<std::uint32_t>> nics(view.numa_nodes.size());
  std::vector<std::size_t> placed(view.numa_nodes.size(), 0);
  for (std::uint32_t i = 0; i < Count(view.nics); ++i)
    if (view.nics[i].parent.kind == PartKind::kNuma) nics[view.nics[i].parent.index].push_back(i);
  for (std::uint32_t i = 0; i < Count(view.pci); ++i) {
    if (view.pci[i].parent.kind != PartKind::kNuma) continue;
    const std::uint32_t numa = view.pci[i].parent.index;
    std::size_t& next = placed[numa];
    if (first_nics[i] < view.nics.size())
      for (; next < nics[numa].size() && nics[numa][next] < first_nics[i]; ++next)
        numa_[numa].push_back({PartKind::kNic, nics[numa][next]});
    numa_[numa].push_back({PartKind::kPci, i});
  }
  for (std::size_t numa = 0; numa < numa_.size(); ++numa)
    for (std::size_t next = placed[numa]; next < nics[numa].size(); ++next)
      numa_[numa].push_back({PartKind::kNic, nics[numa][next]});
}

const std::vector<Part>& HostTree::Below(Part part) const {
  switch (part.kind) {
    case PartKind::kSystem: return system_;
    case PartKind::kNuma: return numa_[part.index];
    case PartKind::kPci: return pci_[part.index];
    case PartKind::kNic: return nics_[part.index];
    case PartKind::kGpu:
    case PartKind::kNet:
    case PartKind::kGpuLink:
    case PartKind::kC2c:
    case PartKind::kPciLink: break;
  }
  return none_;
}

}  // namespace ringlet::topology
