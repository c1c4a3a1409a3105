#include "discovery/pci_view.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::discovery {
namespace {

using topology::BusId;
using topology::CpuSet;
using topology::HostView;
using topology::kUnknownNuma;
using topology::NumaNode;
using topology::Part;
using topology::PartKind;
using topology::PciDevice;

/// Returns the folder of `bus` in the path of a function below it; empty if the path lacks it.
std::string FolderAbove(std::string_view path, BusId bus) {
  const std::string part = "/" + ToString(bus) + "/";
  const std::size_t at = path.rfind(part);
  return at == std::string_view::npos ? "" : std::string(path.substr(0, at + part.size() - 1));
}

}  // namespace

bool IsGpu(const PciFunction& function) {
  constexpr std::uint16_t kAmd = 0x1002, kIntel = 0x8086;
  if (!function.device_class) return false;
  const std::uint32_t kind = function.device_class->code >> 8;
  if (kind >> 8 == 0x12 || kind == 0x0302) return true;
  if (kind >> 8 != 0x03) return false;
  const std::uint16_t vendor = function.ids.vendor;
  return vendor == 0 || vendor == kNvidiaVendor || vendor == kAmd ||
         (vendor == kIntel && kind == 0x0380);
}

const PciFunction* PciView::Detailed(BusId bus) {
  if (Find(functions_, bus) == nullptr) return nullptr;
  return &FindOrAdd(bus, nullptr);
}

PciFunction& PciView::FindOrAdd(BusId bus, const PciFunction* below) {
  const PciFunction* const found = Find(functions_, bus);
  PciFunction* function = nullptr;
  if (found != nullptr) {
    function = &functions_[static_cast<std::size_t>(found - functions_.data())];
  } else {
    function = &others_.try_emplace(bus, PciFunction{.bus = bus, .path = {}}).first->second;
    if (function->path.empty() && below != nullptr) {
      function->path = FolderAbove(below->path, bus);
      const auto code =
          topology::PciClass::Parse(sysfs_.Peek(function->path + "/class").value_or(""));
      if (code.ok()) function->device_class = *code;
    }
  }
  if (!function->path.empty() && detailed_.insert(bus).second) ReadDetails(sysfs_, *function);
  return *function;
}

void PciView::AddWithBridges(BusId bus) {
  const PciFunction leaf = FindOrAdd(bus, nullptr);
  if (leaf.path.empty())
    sysfs_.RecordMissing(
        fmt::format("PCI function {} is not in /sys, so nothing is known above it", ToString(bus)));
  std::vector<BusId> chain = {bus};
  for (std::size_t i = 1; i < leaf.above.size(); i += 2) chain.push_back(leaf.above[i]);
  std::optional<BusId> parent;
  for (auto each = chain.rbegin(); each != chain.rend(); ++each) {
    if (elements_.count(*each) == 0) Place(*each, parent, leaf);
    if (elements_.count(*each) == 0) return;  // Place has recorded the reason
    parent = *each;
  }
}

void PciView::Place(BusId bus, std::optional<BusId> parent, const PciFunction& leaf) {
  Element element{.parent = parent, .numa = {}, .link = {}};
  if (parent) element.depth = elements_[*parent].depth + 1;
  if (element.depth > HostView::kDepthMax || elements_.size() == HostView::kPciMax)
    return sysfs_.RecordMissing(fmt::format(
        "PCI function {} is left out: it is nested too deep, or the host has too many functions",
        ToString(bus)));
  const PciFunction function = FindOrAdd(bus, &leaf);
  // The port directly above limits the slot, even if it is not in the view.
  const auto at = std::find(leaf.above.begin(), leaf.above.end(), bus);
  const auto port = bus == leaf.bus ? leaf.above.begin() : at == leaf.above.end() ? at : at + 1;
  element.link = function.max;
  if (port != leaf.above.end()) element.link = Slower(function.max, FindOrAdd(*port, &leaf).max);
  if (!parent) {
    element.numa = NodeOf(function);
    if (!element.numa) element.numa = NodeOf(leaf);
  } else {
    elements_[*parent].children.push_back(bus);
  }
  elements_.emplace(bus, std::move(element));
}

std::optional<std::uint32_t> PciView::NodeOf(const PciFunction& function) const {
  const std::vector<NumaNode>& nodes = view_.numa_nodes;
  const auto known = [&](std::uint32_t id) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const auto& node) { return node.id == id; });
  };
  if (function.numa && known(*function.numa)) return function.numa;
  // Otherwise the only node that contains all CPUs near the function.
  const std::size_t cpus = function.local_cpus.Count();
  std::optional<std::uint32_t> near;
  for (const NumaNode& node : nodes) {
    if (cpus == 0 || node.cpus.CountCommon(function.local_cpus) != cpus) continue;
    if (near) return std::nullopt;
    near = node.id;
  }
  if (!near && nodes.size() == 1) near = nodes.front().id;
  return near;
}

std::uint32_t PciView::UnknownNode() {
  std::vector<NumaNode>& nodes = view_.numa_nodes;
  const bool distances = std::all_of(nodes.begin(), nodes.end(),
                                     [](const NumaNode& node) { return !node.distances.empty(); });
  NumaNode unknown{.id = kUnknownNuma, .cpus = {}};
  // The unknown node's distance to each node is that node's maximum distance.
  constexpr std::uint32_t kSelf = 10;
  for (NumaNode& node : nodes) {
    if (node.distances.empty()) continue;
    node.distances.push_back(*std::max_element(node.distances.begin(), node.distances.end()));
    if (distances) unknown.distances.push_back(node.distances.back());
  }
  if (distances) unknown.distances.push_back(kSelf);
  nodes.push_back(std::move(unknown));
  return static_cast<std::uint32_t>(nodes.size() - 1);
}

void PciView::Build() {
  std::map<std::uint32_t, std::vector<BusId>> roots;  // by index of the NUMA node
  std::vector<BusId> nowhere;
  for (const auto& [bus, element] : elements_) {
    if (element.parent) continue;
    const std::optional<std::uint32_t> numa = element.numa;
    const std::vector<NumaNode>& nodes = view_.numa_nodes;
    const auto at = std::find_if(nodes.begin(), nodes.end(),
                                 [&](const NumaNode& node) { return node.id == numa; });
    if (at != nodes.end()) {
      roots[static_cast<std::uint32_t>(at - nodes.begin())].push_back(bus);
    } else {
      nowhere.push_back(bus);
      sysfs_.RecordMissing(fmt::format(
          "PCI function {}: its NUMA node is unknown; an extra node contains all such functions",
          ToString(bus)));
    }
  }
  if (!nowhere.empty()) roots[UnknownNode()] = std::move(nowhere);
  for (const auto& [numa, functions] : roots)
    for (const BusId bus : functions) Emit(bus, {PartKind::kNuma, numa});
}

void PciView::Emit(BusId bus, Part parent) {
  const Element& element = elements_[bus];
  const PciFunction& function = FindOrAdd(bus, nullptr);
  PciDevice device;
  device.parent = parent;
  device.bus = bus;
  device.device_class = function.device_class;
  device.ids = function.ids;
  device.link_speed = element.link.speed;
  device.link_width = element.link.width;
  device.peers = ReadPeers(sysfs_, functions_, bus, function.ids);
  const auto index = static_cast<std::uint32_t>(view_.pci.size());
  view_.pci.push_back(std::move(device));
  index_[bus] = index;
  std::vector<BusId> children = element.children;
  std::sort(children.begin(), children.end());
  for (const BusId child : children) Emit(child, {PartKind::kPci, index});
}

std::optional<std::uint32_t> PciView::IndexOf(BusId bus) const {
  const auto at = index_.find(bus);
  return at == index_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<std::uint32_t> PciView::NumaOf(BusId bus) {
  const PciFunction* const function = Detailed(bus);
  return function == nullptr ? std::nullopt : NodeOf(*function);
}

}  // namespace ringlet::discovery
