#include "topology/graph/merge_nics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/value/text.hpp"
#include "topology/view/refuse.hpp"

namespace ringlet::topology {
namespace {

constexpr std::uint64_t kFunctionBits = 0xf;  // the last digit of a bus id
constexpr std::size_t kBusTriesMax = 100;     // NCCL's

/// The parts from the system down to the NIC, or to a known NUMA node if the NIC is missing.
std::vector<Part> ChainOf(const HostView& view, std::uint32_t net) {
  std::vector<Part> chain;
  if (view.nets[net].nic) {
    const std::uint32_t nic = *view.nets[net].nic;
    chain.push_back({PartKind::kNic, nic});
    for (Part at = view.nics[nic].parent; chain.back() != at;) {
      chain.push_back(at);
      if (at.kind == PartKind::kPci) at = view.pci[at.index].parent;
    }
  } else if (const auto numa = view.NumaIndexOf({PartKind::kNet, net})) {
    chain.push_back({PartKind::kNuma, *numa});
  }
  chain.push_back({});
  std::reverse(chain.begin(), chain.end());
  return chain;
}

std::uint64_t HostOf(const HostView& view, const std::vector<Part>& chain) {
  return chain.size() < 2 ? view.identity : view.HostOf(view.numa_nodes[chain[1].index]);
}

std::size_t CommonLength(const std::vector<Part>& a, const std::vector<Part>& b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end - a.begin());
}

bool AreFunctionsOfOneDevice(const HostView& view, const Part& a, const Part& b) {
  if (a.kind != PartKind::kPci || b.kind != PartKind::kPci) return false;
  return ((view.pci[a.index].bus.value ^ view.pci[b.index].bus.value) & ~kFunctionBits) == 0;
}

class NicMerger {
 public:
  NicMerger(const HostView& view, const NicMerge& how) : view_(view), how_(how) {
    for (const PciDevice& pci : view_.pci) taken_.insert(pci.bus);
    for (const NetInterface& net : view_.nets) used_.push_back(net.net_api.value_or(true));
    placed_.assign(used_.size(), false);
  }

  Result<HostView> Run() {
    for (const std::vector<std::string>& names : how_.forced) {
      RINGLET_TRY_ASSIGN(const std::vector<std::uint32_t> group, Named(names));
      RINGLET_TRY(Merge(group));
    }
    const auto ports = static_cast<std::uint32_t>(placed_.size());
    for (std::uint32_t i = 0; i < ports; ++i) {
      if (placed_[i] || !used_[i]) continue;
      std::vector<std::uint32_t> group = {i};
      for (std::uint32_t j = 0; j < ports && group.size() < how_.ports_max; ++j)
        if (j != i && !placed_[j] && used_[j] && MayJoin(i, j)) group.push_back(j);
      RINGLET_TRY(Merge(group));
    }
    RINGLET_TRY(view_.Check());
    return std::move(view_);
  }

 private:
  bool MayJoin(std::uint32_t a, std::uint32_t b) const {
    if (how_.level == PortDistance::kLoc || DistanceOf(view_, a, b) > how_.level) return false;
    return !how_.same_rail || (view_.nets[a].rail && view_.nets[a].rail == view_.nets[b].rail);
  }

  Result<std::vector<std::uint32_t>> Named(const std::vector<std::string>& names) const {
    std::vector<std::uint32_t> group;
    for (const std::string& name : names) {
      std::optional<std::uint32_t> found;
      for (std::uint32_t i = 0; i < placed_.size(); ++i) {
        if (view_.nets[i].name != name || !used_[i]) continue;
        if (found) return Refuse(fmt::format("several ports are named {}", Quoted(name)));
        found = i;
      }
      if (!found) return Refuse(fmt::format("no port is named {}", Quoted(name)));
      if (placed_[*found] || std::find(group.begin(), group.end(), *found) != group.end())
        return Refuse(fmt::format("port {} is to be merged twice", Quoted(name)));
      group.push_back(*found);
    }
    if (group.size() > how_.ports_max)
      return Refuse(fmt::format("{} ports are to be merged; a virtual NIC has at most {}",
                                group.size(), how_.ports_max));
    return group;
  }

  Status Merge(const std::vector<std::uint32_t>& group) {
    for (const std::uint32_t net : group) placed_[net] = true;
    if (group.size() < 2) return Ok();
    for (const std::uint32_t net : group) view_.nets[net].net_api = false;
    if (!HasFunction(group.front())) return Ok();
    std::vector<Part> common = ChainOf(view_, group.front());
    PortDistance distance = PortDistance::kLoc;
    for (const std::uint32_t net : group) {
      common.resize(CommonLength(common, ChainOf(view_, net)));
      distance = std::max(distance, DistanceOf(view_, group.front(), net));
    }
    if (common.size() < 2)
      return Refuse(fmt::format("ports {} and {} do not share a processor",
                                Quoted(view_.nets[group[0]].name),
                                Quoted(view_.nets[group[1]].name)));
    RINGLET_TRY_ASSIGN(const std::uint32_t nic, NicAt(common.back(), group, distance));
    AddPort(group, nic);
    return Ok();
  }

  bool HasFunction(std::uint32_t net) const {
    const std::optional<std::uint32_t> nic = view_.nets[net].nic;
    return nic && view_.nics[*nic].parent.kind == PartKind::kPci;
  }

  /// Adds a NIC below the common part if that can hold one. Otherwise adds a PCI function for it.
  Result<std::uint32_t> NicAt(Part common, const std::vector<std::uint32_t>& group,
                              PortDistance distance) {
    if (common.kind == PartKind::kNic) return common.index;
    const Part parent = view_.nics[*view_.nets[group.front()].nic].parent;
    const bool holds_nics = common.kind == PartKind::kPci && view_.pci[common.index].device_class &&
                            view_.pci[common.index].device_class->role() != PciRole::kBridge;
    if (!holds_nics) {
      PciDevice made = view_.pci[parent.index];
      made.parent = common;
      made.peers.clear();
      RINGLET_TRY_ASSIGN(made.bus, FreeBusAfter(made.bus));
      if (distance >= PortDistance::kPix) {
        constexpr std::uint32_t kLanesMax = 0xffff;
        made.link_width =
            static_cast<std::uint16_t>(std::min(WidthBelow(common, group), kLanesMax));
      }
      view_.pci.push_back(std::move(made));
      common = {PartKind::kPci, static_cast<std::uint32_t>(view_.pci.size() - 1)};
    }
    view_.nics.push_back({common});
    return static_cast<std::uint32_t>(view_.nics.size() - 1);
  }

  Result<BusId> FreeBusAfter(BusId bus) {
    for (std::size_t i = 0; i < kBusTriesMax; ++i)
      if (taken_.insert(BusId{++bus.value}).second) return bus;
    return Refuse(fmt::format("no bus id near {} is free for a virtual NIC", ToString(bus)));
  }

  /// Total lanes of the members, limited by the switches between.
  std::uint32_t WidthBelow(Part above, const std::vector<std::uint32_t>& group) const {
    std::set<Part> below;  // children of `above` with members
    std::vector<std::vector<Part>> chains;
    for (const std::uint32_t net : group) chains.push_back(ChainOf(view_, net));
    std::uint32_t width = 0;
    for (const auto& chain : chains) {
      const auto at = std::find(chain.begin(), chain.end(), above);
      if (at == chain.end() || at + 1 == chain.end() || !below.insert(*(at + 1)).second) continue;
      if ((at + 1)->kind != PartKind::kPci) continue;
      const std::uint32_t own = view_.pci[(at + 1)->index].link_width;
      const std::uint32_t children = WidthBelow(*(at + 1), group);
      width += children == 0 ? own : std::min(own, children);
    }
    return width;
  }

  void AddPort(const std::vector<std::uint32_t>& group, std::uint32_t nic) {
    NetInterface merged = view_.nets[group.front()];
    merged.nic = nic;
    merged.net_api = true;
    merged.name.clear();
    merged.kind = NetKind::kVirtual;
    merged.speed_mbit_per_s = 0;
    merged.members.clear();
    for (const std::uint32_t net : group) {
      const NetInterface& member = view_.nets[net];
      merged.name += (merged.name.empty() ? "" : "+") + member.name;
      *merged.speed_mbit_per_s += member.speed_mbit_per_s.value_or(0);
      merged.members.push_back(member.name);
      if (member.rail != merged.rail) merged.rail.reset();
      if (member.gdr != merged.gdr) merged.gdr = false;
    }
    if (*merged.speed_mbit_per_s == 0) merged.speed_mbit_per_s.reset();
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < view_.nets.size(); ++i)
      next = std::max(next, view_.nets[i].dev.value_or(i) + 1);
    merged.dev = next;
    view_.nets.push_back(std::move(merged));
  }

  HostView view_;
  const NicMerge& how_;
  std::set<BusId> taken_;
  // By original port: true if it is a network, and true if a group contains it.
  std::vector<bool> used_, placed_;
};

}  // namespace

Result<PortDistance> ParseMergeLevel(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, PortDistance>, 8> kLevels = {{
      {"LOC", PortDistance::kLoc},
      {"PORT", PortDistance::kPort},
      {"PIX", PortDistance::kPix},
      {"PXB", PortDistance::kPxb},
      {"P2C", PortDistance::kPxb},
      {"PXN", PortDistance::kPxb},
      {"PHB", PortDistance::kPhb},
      {"SYS", PortDistance::kSys},
  }};
  constexpr std::array<PortDistance, 10> kLevelOfType = {
      PortDistance::kLoc, PortDistance::kPort, PortDistance::kPort, PortDistance::kPort,
      PortDistance::kPix, PortDistance::kPxb,  PortDistance::kPxb,  PortDistance::kPxb,
      PortDistance::kPhb, PortDistance::kSys};
  for (const auto& [name, level] : kLevels)
    if (EqualIgnoringCase(text, name)) return level;
  if (const auto number = ParseDecimal(text); number && *number < kLevelOfType.size())
    return kLevelOfType[*number];
  return Refuse(fmt::format("{} is not one of LOC, PORT, PIX, PXB, P2C, PXN, PHB and SYS",
                            Quoted(Printable(text, 40))));
}

std::vector<std::vector<std::string>> ParseForcedMerge(std::string_view text) {
  std::vector<std::vector<std::string>> groups;
  for (const std::string_view group : Split(text, ';')) {
    std::vector<std::string> names;
    for (const std::string_view name : Split(group, ','))
      if (!Trim(name).empty()) names.emplace_back(Trim(name));
    if (!names.empty()) groups.push_back(std::move(names));
  }
  return groups;
}

PortDistance DistanceOf(const HostView& view, std::uint32_t a, std::uint32_t b) {
  if (a == b) return PortDistance::kLoc;
  const std::vector<Part> of_a = ChainOf(view, a), of_b = ChainOf(view, b);
  if (HostOf(view, of_a) != HostOf(view, of_b)) return PortDistance::kDis;
  const std::size_t common = CommonLength(of_a, of_b);
  if (common < of_a.size() && common < of_b.size() &&
      AreFunctionsOfOneDevice(view, of_a[common], of_b[common]))
    return PortDistance::kPort;
  const PartKind shared = of_a[common - 1].kind;
  if (shared == PartKind::kNic) return PortDistance::kPort;
  if (shared == PartKind::kNuma) return PortDistance::kPhb;
  if (shared != PartKind::kPci) return PortDistance::kSys;
  // A chain ends with function and NIC. The part above the function is its switch.
  const bool at_it = common + 2 == of_a.size() && common + 2 == of_b.size();
  return at_it ? PortDistance::kPix : PortDistance::kPxb;
}

Result<HostView> MergeNics(const HostView& view, const NicMerge& how) {
  return NicMerger(view, how).Run();
}

}  // namespace ringlet::topology
