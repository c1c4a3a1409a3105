// Rules about the order of bus ids. Firmware numbers buses depth first. So the buses below a switch
// are above the switch's own, and no other branch of the host has a bus among them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "topo/lint/lint_context.hpp"

namespace ringlet::topology {
namespace {

/// The buses of one domain at and below a part of a host.
struct BusRange {
  std::uint8_t first = 0xff;
  std::uint8_t last = 0;
  std::uint32_t functions = 0;
  std::uint32_t part = 0;  ///< index of the topmost function, or of the NUMA node

  void Add(std::uint32_t of, std::uint8_t bus) {
    part = of;
    ++functions;
    first = std::min(first, bus);
    last = std::max(last, bus);
  }
  auto operator<=>(const BusRange&) const = default;
};

/// By host and domain, then by part.
using BusRanges =
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::map<std::uint32_t, BusRange>>;

BusRanges RangesOfBranches(const LintContext& context) {
  const HostView& view = context.view();
  std::vector<std::uint32_t> roots;
  BusRanges ranges;
  for (std::uint32_t i = 0; i < view.pci.size(); ++i) {
    const PciDevice& device = view.pci[i];
    roots.push_back(device.parent.kind == PartKind::kPci ? roots[device.parent.index] : i);
    ranges[{context.HostOf({PartKind::kPci, i}), device.bus.domain()}][roots[i]].Add(
        roots[i], device.bus.bus());
  }
  return ranges;
}

void LintOverlap(LintContext& context, const std::map<std::uint32_t, BusRange>& branches) {
  const HostView& view = context.view();
  std::vector<BusRange> ranges;
  for (const auto& [root, range] : branches) ranges.push_back(range);
  std::ranges::sort(ranges);
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const BusRange& range = ranges[i];
    const BusRange& before = ranges[i - 1];
    // Functions alone on one bus belong to one card, or to a processor.
    if (range.first > before.last || range.functions + before.functions == 2) continue;
    context.AddFinding(
        Severity::kWarning, "bus-order", {PartKind::kPci, range.part}, "busid",
        fmt::format("its buses {:02x} to {:02x} overlap the buses {:02x} to {:02x} of {} ({}); "
                    "branches of one host never share buses",
                    range.first, range.last, before.first, before.last,
                    ToString(view.pci[before.part].bus),
                    context.Where({PartKind::kPci, before.part})),
        "bus ids may be swapped, or a function is under the wrong switch: compare with lspci -tv");
  }
}

/// Compares NUMA nodes: the buses of one node must not lie on both sides of a bus of another node.
void LintNodes(LintContext& context) {
  const HostView& view = context.view();
  BusRanges hosts;
  for (std::uint32_t i = 0; i < view.pci.size(); ++i) {
    const Part part{PartKind::kPci, i};
    const std::optional<std::uint32_t> numa = view.NumaIndexOf(part);
    if (!numa || view.numa_nodes[*numa].id == kUnknownNuma) continue;
    const BusId bus = view.pci[i].bus;
    hosts[{context.HostOf(part), bus.domain()}][*numa].Add(*numa, bus.bus());
  }
  for (const auto& [host, nodes] : hosts) {
    for (auto a = nodes.begin(); a != nodes.end(); ++a)
      for (auto b = std::next(a); b != nodes.end(); ++b) {
        if (a->second.first >= b->second.last || b->second.first >= a->second.last) continue;
        context.AddFinding(
            Severity::kWarning, "numa-bus-order", {PartKind::kNuma, b->first}, "",
            fmt::format("its buses {:02x} to {:02x} overlap the buses {:02x} to {:02x} of "
                        "NUMA node {}; the buses of a NUMA node are consecutive",
                        b->second.first, b->second.last, a->second.first, a->second.last,
                        view.numa_nodes[a->first].id),
            "a switch may be under the wrong NUMA node, or bus ids may be swapped: compare "
            "with /sys/bus/pci/devices/ADDRESS/numa_node");
      }
  }
}

}  // namespace

void LintBusOrder(LintContext& context) {
  const HostView& view = context.view();
  for (std::uint32_t i = 0; i < view.pci.size(); ++i) {
    const PciDevice& device = view.pci[i];
    if (device.parent.kind != PartKind::kPci) continue;
    const BusId above = view.pci[device.parent.index].bus;
    if (device.bus.domain() != above.domain() || device.bus.bus() >= above.bus()) continue;
    context.AddFinding(
        Severity::kWarning, "bus-order", {PartKind::kPci, i}, "busid",
        fmt::format("its bus {:02x} is below the bus {:02x} of its switch {}; bus numbers "
                    "grow from the processor outwards",
                    device.bus.bus(), above.bus(), ToString(above)),
        "bus ids may be swapped: compare with lspci -tv");
  }
  for (const auto& [host, branches] : RangesOfBranches(context)) LintOverlap(context, branches);
  LintNodes(context);
}

}  // namespace ringlet::topology
