#include "topology/graph/build_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/value/text.hpp"
#include "topology/view/refuse.hpp"

namespace ringlet::topology {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr unsigned kHostBits = 56;             // position of the host in NCCL's ids
constexpr std::uint32_t kMaxConnections = 64;  // NCCL's, for ports that do not report a number

/// The children of a view's parts, in the view's order.
struct Children {
  explicit Children(const HostView& view)
      : numa_pci(view.numa_nodes.size()),
        numa_nics(view.numa_nodes.size()),
        pci_pci(view.pci.size()),
        pci_nics(view.pci.size()),
        pci_gpus(view.pci.size()),
        nic_nets(view.nics.size()),
        first_nic(view.pci.size(), kNone) {
    for (std::uint32_t i = 0; i < view.pci.size(); ++i) {
      const Part& parent = view.pci[i].parent;
      (parent.kind == PartKind::kNuma ? numa_pci : pci_pci)[parent.index].push_back(i);
    }
    for (std::uint32_t i = 0; i < view.gpus.size(); ++i) pci_gpus[view.gpus[i].pci].push_back(i);
    for (std::uint32_t i = 0; i < view.nics.size(); ++i) {
      const Part& parent = view.nics[i].parent;
      (parent.kind == PartKind::kNuma ? numa_nics : pci_nics)[parent.index].push_back(i);
    }
    for (std::uint32_t i = 0; i < view.nets.size(); ++i)
      if (view.nets[i].nic) nic_nets[*view.nets[i].nic].push_back(i);
    for (auto i = static_cast<std::uint32_t>(view.pci.size()); i-- > 0;) {
      if (!pci_nics[i].empty()) first_nic[i] = std::min(first_nic[i], pci_nics[i].front());
      for (const std::uint32_t child : pci_pci[i])
        first_nic[i] = std::min(first_nic[i], first_nic[child]);
    }
  }

  std::vector<std::vector<std::uint32_t>> numa_pci, numa_nics, pci_pci, pci_nics, pci_gpus,
      nic_nets;
  std::vector<std::uint32_t> first_nic;  // lowest NIC at or below each PCI function
};

class TreeBuilder {
 public:
  TreeBuilder(Draft& draft, const HostView& view, Rules rules,
              std::span<const std::optional<Rank>> ranks)
      : draft_(draft), view_(view), rules_(rules), ranks_(ranks), children_(view) {
    tree_.switches.resize(view.pci.size());
  }

  Result<Tree> Run() {
    for (std::uint32_t numa = 0; numa < view_.numa_nodes.size(); ++numa) {
      RINGLET_TRY(AddNuma(numa));
    }
    return std::move(tree_);
  }

 private:
  std::uint32_t HostFor(std::uint64_t identity) {
    const auto [it, fresh] = hosts_.emplace(identity, 0);
    if (!fresh) return it->second;
    const bool own = identity == view_.identity;
    std::string name = identity == 0 ? "host" : fmt::format("{:#x}", identity);
    if (own && !view_.name.empty()) name = view_.name;
    it->second = draft_.AddHost(std::move(name), identity);
    if (!tree_.hosts.empty()) draft_.SameSystem(tree_.hosts.front(), it->second);
    return it->second;
  }

  Status AddNuma(std::uint32_t numa) {
    const NumaNode& node = view_.numa_nodes[numa];
    host_ = HostFor(view_.HostOf(node));
    cpu_ = draft_.Add(NodeKind::kCpu, host_, node.id, node.id);
    draft_.Describe(cpu_, view_.ModelOf(node));
    tree_.hosts.push_back(host_);
    tree_.cpus.push_back(cpu_);
    auto nic = children_.numa_nics[numa].begin();
    const auto nics_end = children_.numa_nics[numa].end();
    for (const std::uint32_t pci : children_.numa_pci[numa]) {
      for (; nic != nics_end && *nic < children_.first_nic[pci]; ++nic) AddCpuNic(*nic, node.id);
      RINGLET_TRY(AddPci(pci, cpu_));
    }
    for (; nic != nics_end; ++nic) AddCpuNic(*nic, node.id);
    return Ok();
  }

  /// NCCL drops the number of the NUMA node, and so merges all such NICs of a host into one device.
  void AddCpuNic(std::uint32_t nic, std::uint32_t numa) {
    AddNic({&nic, 1}, rules_ == Rules::kNccl ? 0 : numa, std::nullopt, cpu_, kLocalLink);
  }

  void AddNic(std::span<const std::uint32_t> nics, std::uint64_t id, std::optional<BusId> slot,
              NodeIndex parent, Bandwidth bandwidth) {
    const auto [it, fresh] = tree_.nics.emplace(std::pair(host_, id), NodeIndex{});
    if (fresh) {
      it->second = draft_.Add(NodeKind::kNic, host_, 0, id);
      draft_.Join(it->second, parent, LinkKind::kPci, bandwidth);
    }
    for (const std::uint32_t nic : nics)
      for (const std::uint32_t net : children_.nic_nets[nic]) AddPorts(net, slot, it->second);
  }

  void AddPorts(std::uint32_t net, std::optional<BusId> slot, NodeIndex nic) {
    const NetInterface& port = view_.nets[net];
    if (!port.dev && rules_ == Rules::kNccl) return;
    const std::uint32_t number = port.dev.value_or(net);
    NetFacts facts;
    facts.chip = port.guid.value_or(std::uint64_t{host_} << kHostBits | number);
    facts.slot = slot ? slot->value : facts.chip;
    facts.port = port.port.value_or(0);
    facts.latency_ns = port.latency_ns.value_or(0);
    facts.max_connections = port.max_connections.value_or(kMaxConnections);
    facts.gdr = port.gdr.value_or(false);
    facts.collective = port.collective.value_or(false);
    facts.rail = port.rail;
    facts.plane = port.plane;
    const std::array<std::pair<NodeKind, bool>, 3> apis = {
        {{NodeKind::kNet, port.net_api.value_or(true)},
         {NodeKind::kGin, port.gin_api.value_or(false)},
         {NodeKind::kRma, port.rma_api.value_or(false)}}};
    for (const auto& [kind, present] : apis) {
      if (!present) continue;
      const NodeIndex node = draft_.Add(kind, host_, number, number);
      draft_.at(node).name = port.name;
      draft_.Describe(node, facts);
      draft_.Join(nic, node, LinkKind::kNetwork, NetworkInterface(port.speed_mbit_per_s));
    }
  }

  Status AddPci(std::uint32_t pci, NodeIndex parent) {
    const PciDevice& device = view_.pci[pci];
    const Bandwidth bandwidth = rules_ == Rules::kNccl
                                    ? NcclPcieLink(device.link_speed, device.link_width)
                                    : PcieLink(device.link_speed, device.link_width);
    for (const std::uint32_t gpu : children_.pci_gpus[pci]) {
      if (!ranks_[gpu]) return Ok();  // as in NCCL: a GPU without a rank drops the whole function
      RINGLET_TRY(AddGpu(gpu, pci, parent, bandwidth));
    }
    if (!children_.pci_nics[pci].empty()) {
      AddNic(children_.pci_nics[pci], device.bus.value, device.bus, parent, bandwidth);
      return Ok();
    }
    if (!IsSwitch(pci)) return Ok();
    const NodeIndex node = draft_.Add(NodeKind::kPci, host_, 0, device.bus.value);
    draft_.Describe(node, SwitchFacts{device.bus, device.ids.packed()});
    tree_.switches[pci] = node;
    for (const std::uint32_t child : children_.pci_pci[pci]) RINGLET_TRY(AddPci(child, node));
    draft_.Join(node, parent, LinkKind::kPci, bandwidth);
    return Ok();
  }

  /// Without a class, a function with children is a switch.
  bool IsSwitch(std::uint32_t pci) const {
    const std::optional<PciClass>& kind = view_.pci[pci].device_class;
    if (!kind) return !children_.pci_pci[pci].empty();
    return kind->role() == PciRole::kBridge || kind->role() == PciRole::kOther;
  }

  Status AddGpu(std::uint32_t index, std::uint32_t pci, NodeIndex parent, Bandwidth bandwidth) {
    const Gpu& gpu = view_.gpus[index];
    const BusId bus = view_.pci[pci].bus;
    const Rank rank = *ranks_[index];
    if (gpu.mlopart.value_or(0) > 1)
      return Refuse(
          fmt::format("rank {} on GPU {} of host {} is part {} of it; a GPU is split in "
                      "parts 0 and 1",
                      Index(rank), ToString(bus), Quoted(view_.name), *gpu.mlopart));
    const auto key = std::pair(host_, bus);
    const auto [it, fresh] = tree_.devices.emplace(key, Device{{}, {}, pci, cpu_});
    if (fresh) tree_.device_order.push_back(key);
    Device& device = it->second;
    if (device.pci != pci && rules_ != Rules::kNccl)  // NCCL treats both as one GPU
      return Refuse(fmt::format(
          "ranks {} and {} of host {} are on two GPUs with the same address "
          "{}",
          Index(*ranks_[device.gpus.front()]), Index(rank), Quoted(view_.name), ToString(bus)));
    const NodeIndex node = HalfFor(device, index, bus, parent, bandwidth);
    const std::vector<Link>& links = draft_.at(node).links;
    const auto before =
        static_cast<std::uint64_t>(std::count_if(links.begin(), links.end(), [&](const Link& link) {
          return draft_.at(link.to).kind == NodeKind::kGpu;
        }));
    constexpr unsigned kCountBits = 40;  // position of the number on a device in NCCL's ids of GPUs
    const NodeIndex endpoint =
        draft_.Add(NodeKind::kGpu, host_, Index(rank), before << kCountBits | draft_.at(node).id);
    draft_.Describe(endpoint, GpuFacts{node, gpu.gdr.value_or(false), gpu.fabric});
    draft_.Join(endpoint, node, LinkKind::kLocal, kLocalLink);
    return Ok();
  }

  NodeIndex HalfFor(Device& device, std::uint32_t index, BusId bus, NodeIndex parent,
                    Bandwidth bandwidth) {
    const Gpu& gpu = view_.gpus[index];
    for (std::size_t i = 0; i < device.halves.size(); ++i)
      if (view_.gpus[device.gpus[i]].mlopart == gpu.mlopart) return device.halves[i];
    const std::uint64_t id = gpu.mlopart ? bus.value | 1 | *gpu.mlopart << 1 : bus.value;
    const NodeIndex node = draft_.Add(NodeKind::kDev, host_, gpu.dev.value_or(index), id);
    draft_.Describe(node, DeviceFacts{bus, gpu.compute_capability, gpu.mlopart, gpu.gcn});
    draft_.Join(node, parent, LinkKind::kPci, bandwidth);
    for (const NodeIndex other : device.halves)
      draft_.Join(node, other, LinkKind::kLocal, kSplitGpuLink);
    device.halves.push_back(node);
    device.gpus.push_back(index);
    return node;
  }

  Draft& draft_;
  const HostView& view_;
  const Rules rules_;
  const std::span<const std::optional<Rank>> ranks_;
  const Children children_;
  Tree tree_;
  std::unordered_map<std::uint64_t, std::uint32_t> hosts_;  // by identity
  std::uint32_t host_ = 0;                                  // host in progress
  NodeIndex cpu_{};
};

std::string GpuText(const HostView& view, std::uint32_t gpu) {
  return fmt::format("GPU {} of host {}", ToString(view.pci[view.gpus[gpu].pci].bus),
                     Quoted(view.name));
}

}  // namespace

Result<GpuRankTable> AssignRanks(std::span<const HostView> views, GpuRanks which) {
  GpuRankTable table(views.size());
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> taken;
  for (std::uint32_t v = 0; v < views.size(); ++v) {
    table[v].resize(views[v].gpus.size());
    for (std::uint32_t i = 0; which != GpuRanks::kNone && i < views[v].gpus.size(); ++i) {
      const std::optional<std::uint32_t> rank = views[v].gpus[i].rank;
      if (!rank) continue;
      const auto [it, fresh] = taken.emplace(*rank, std::pair(v, i));
      if (!fresh)
        return Refuse(fmt::format("rank {} is claimed by {} and by {}", *rank,
                                  GpuText(views[it->second.first], it->second.second),
                                  GpuText(views[v], i)));
      table[v][i] = Rank{*rank};
    }
  }
  std::uint32_t next = 0;
  for (std::uint32_t v = 0; which == GpuRanks::kAll && v < views.size(); ++v) {
    for (std::optional<Rank>& rank : table[v]) {
      if (rank) continue;
      while (taken.contains(next)) ++next;
      rank = Rank{next++};
    }
  }
  return table;
}

Result<Tree> AddTree(Draft& draft, const HostView& view, Rules rules,
                     std::span<const std::optional<Rank>> ranks) {
  return TreeBuilder(draft, view, rules, ranks).Run();
}

}  // namespace ringlet::topology
