#include "topo/check/repair.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "topology/xml/xml_reader.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::topology {
namespace {

class Repairer {
 public:
  explicit Repairer(HostView& view) : view_(view) {
    for (const PciDevice& device : view_.pci) taken_.insert(device.bus);
  }

  void operator()(const PcieChange& change) {
    view_.pci[change.pci].link_speed = change.speed;
    view_.pci[change.pci].link_width = change.width;
  }
  void operator()(const LinksChange& change) { view_.gpus[change.gpu].links = change.links; }
  void operator()(const RateChange& change) {
    view_.nets[change.net].speed_mbit_per_s = change.mbit_per_s;
  }
  void operator()(const GdrChange& change) {
    if (change.part.kind == PartKind::kGpu)
      view_.gpus[change.part.index].gdr = change.gdr;
    else
      view_.nets[change.part.index].gdr = change.gdr;
  }

  void operator()(const PartRemoved& change) {
    // These refer to parts by number.
    view_.unknown_attributes.clear();
    view_.unknown_elements.clear();
    if (change.part.kind == PartKind::kNet) {
      view_.nets.erase(view_.nets.begin() + change.part.index);
      return;
    }
    const Gpu gone = view_.gpus[change.part.index];
    const BusId bus = view_.pci[gone.pci].bus;
    view_.gpus.erase(view_.gpus.begin() + change.part.index);
    for (Gpu& gpu : view_.gpus) {
      std::erase_if(gpu.links, [&](const GpuLink& link) { return link.target == bus; });
      if (gone.rank && gpu.rank && *gpu.rank > *gone.rank) --*gpu.rank;  // ranks have no gap
    }
  }

  void operator()(const GpuAdded& change) {
    Gpu gpu = view_.gpus[change.like];
    const BusId bus = AddFunction(gpu.pci, change.parent);
    const auto at = static_cast<std::uint32_t>(view_.pci.size() - 1);
    const bool to_gpus = std::any_of(gpu.links.begin(), gpu.links.end(), [](const GpuLink& link) {
      return link.target_class && link.target_class->role() == PciRole::kGpu;
    });
    if (to_gpus) Mesh(gpu, bus);
    gpu.pci = at;
    gpu.rank.reset();
    gpu.dev = FreeNumber();
    view_.gpus.push_back(std::move(gpu));
  }

  void operator()(const NicAdded& change) {
    AddFunction(view_.nics[change.like].parent.index, change.parent);
    const auto nic = static_cast<std::uint32_t>(view_.nics.size());
    view_.nics.push_back({{PartKind::kPci, static_cast<std::uint32_t>(view_.pci.size() - 1)}});
    std::uint32_t number = 0;
    for (const NetInterface& net : view_.nets) number = std::max(number, net.dev.value_or(0) + 1);
    std::uint64_t chip = 1;
    for (const NetInterface& net : view_.nets) chip = std::max(chip, net.guid.value_or(0));
    const std::size_t ports = view_.nets.size();
    for (std::size_t i = 0; i < ports; ++i) {
      if (view_.nets[i].nic != change.like) continue;
      NetInterface net = view_.nets[i];
      net.nic = nic;
      net.name += "-repaired";
      net.dev = number++;
      if (net.guid) net.guid = chip + 1;
      view_.nets.push_back(std::move(net));
    }
  }

 private:
  /// Copies a function without its children, at the next free address of its domain.
  BusId AddFunction(std::uint32_t like, Part parent) {
    PciDevice device = view_.pci[like];
    device.parent = parent;
    device.peers.clear();
    while (!taken_.insert(device.bus).second) ++device.bus.value;
    view_.pci.push_back(device);
    return device.bus;
  }

  std::uint32_t FreeNumber() const {
    std::set<std::uint32_t> numbers;
    for (const Gpu& gpu : view_.gpus) numbers.insert(gpu.dev.value_or(0));
    std::uint32_t number = 0;
    while (numbers.contains(number)) ++number;
    return number;
  }

  /// Links an added GPU to all others of a mesh. Each pair gets the most frequent number of links.
  void Mesh(Gpu& added, BusId bus) {
    added.links.clear();
    std::map<std::uint32_t, std::uint32_t> pairs;
    for (const Gpu& gpu : view_.gpus)
      for (const GpuLink& link : gpu.links) ++pairs[link.count];
    if (pairs.empty()) return;
    const auto most =
        std::max_element(pairs.begin(), pairs.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    for (Gpu& gpu : view_.gpus) {
      if (gpu.links.empty()) continue;
      GpuLink link = gpu.links.front();
      link.count = most->first;
      link.target = bus;
      gpu.links.push_back(link);
      link.target = view_.pci[gpu.pci].bus;
      added.links.push_back(link);
    }
  }

  HostView& view_;
  std::set<BusId> taken_;
};

bool Adds(const Change& change) {
  return std::holds_alternative<GpuAdded>(change) || std::holds_alternative<NicAdded>(change);
}

bool Removes(const Change& change) {
  return std::holds_alternative<PartRemoved>(change);
}

/// Returns removals from the last part to the first, so that indices stay valid.
std::vector<PartRemoved> RemovalsOf(std::span<const Change> changes) {
  std::vector<PartRemoved> list;
  for (const Change& change : changes)
    if (const auto* const removed = std::get_if<PartRemoved>(&change)) list.push_back(*removed);
  std::ranges::sort(list, std::ranges::greater(), &PartRemoved::part);
  const auto same = std::ranges::unique(list, {}, &PartRemoved::part);
  list.erase(same.begin(), same.end());
  return list;
}

}  // namespace

Result<HostView> Repaired(HostView view, std::span<const Change> changes) {
  Repairer repairer(view);
  // Apply additions last, so that they copy repaired parts.
  for (const Change& change : changes)
    if (!Adds(change) && !Removes(change)) std::visit(repairer, change);
  bool added = false;
  for (const Change& change : changes) {
    if (!Adds(change)) continue;
    std::visit(repairer, change);
    added = true;
  }
  for (const PartRemoved& removed : RemovalsOf(changes)) repairer(removed);
  RINGLET_TRY(view.Check());
  if (!added) return view;
  return ViewFromXml(ToXml(view), "");  // restores the order of a file; the search depends on it
}

}  // namespace ringlet::topology
