#include "topology/graph/build_links.hpp"

#include <algorithm>

namespace ringlet::topology {
namespace {

/// The role of a link's far end. Without a class: a GPU if its address is known, else an NVSwitch.
PciRole RoleOf(const GpuLink& link, bool known_gpu) {
  if (link.target_class) return link.target_class->role();
  return known_gpu ? PciRole::kGpu : PciRole::kNvSwitch;
}

Bandwidth OfLink(const Gpu& gpu, const GpuLink& link) {
  const Bandwidth one =
      link.kind == GpuLinkKind::kXgmi ? XgmiLink(gpu.gcn) : NvLink(gpu.compute_capability);
  return Times(one, link.count);
}

Bandwidth Share(Bandwidth whole, std::size_t parts) {
  return {whole.mb_per_s / static_cast<std::uint32_t>(parts)};
}

void AddGpuLink(Draft& draft, const Gpu& gpu, const GpuLink& link, const Tree& tree,
                const Device& device, std::size_t half, std::uint32_t view_number,
                NvSwitches& switches, Rules rules) {
  const NodeIndex node = device.halves[half];
  const std::uint32_t host = draft.at(node).host;
  const auto target = link.target ? tree.devices.find({host, *link.target}) : tree.devices.end();
  const PciRole role = RoleOf(link, target != tree.devices.end());
  const Bandwidth bandwidth = Share(OfLink(gpu, link), device.halves.size());
  const bool as_nccl = rules == Rules::kNccl;
  if (bandwidth.mb_per_s == 0 && !as_nccl) return;
  if (role == PciRole::kGpu) {
    if (target == tree.devices.end() || (&target->second == &device && !as_nccl)) return;
    const Device& other = target->second;
    for (const NodeIndex far : other.halves)
      draft.AddLink(node, far, LinkKind::kNvLink, Share(bandwidth, other.halves.size()));
  } else if (role == PciRole::kCpuBridge) {
    draft.Join(node, device.cpu, LinkKind::kNvLink, bandwidth);
  } else {
    draft.Join(node, switches.Of(draft, view_number, gpu.fabric, host), LinkKind::kNvLink,
               bandwidth);
  }
}

/// Numbers that NCCL masks and compares: vendor, device, subsystem vendor and subsystem device.
constexpr std::uint64_t kBroadcomMask = 0xffff'ffff'ffff'f000;
constexpr std::uint64_t kBroadcomGen4 = 0x1000'c010'1000'a000;
constexpr std::uint64_t kBroadcomGen5Upper = 0x1000'c030'1000'0000;
constexpr std::uint64_t kBroadcomGen5Lower = 0x1000'c030'1000'1000;
constexpr std::uint64_t kBroadcomDone = 0xffff;

/// The lower level's pattern below a switch with these ids. 0 if it is not an upper level.
std::uint64_t LowerLevelOf(std::uint64_t ids) {
  if ((ids & kBroadcomMask) == kBroadcomGen4) return kBroadcomGen4;
  return (ids & kBroadcomMask) == kBroadcomGen5Upper ? kBroadcomGen5Lower : 0;
}

void Absorb(Draft& draft, NodeIndex upper, NodeIndex lower) {
  const std::vector<Link> links = std::move(draft.at(lower).links);
  std::vector<Link>& own = draft.at(upper).links;
  std::erase_if(own, [&](const Link& link) { return link.to == lower; });
  for (const Link& link : links) {
    if (link.to == upper) continue;
    own.push_back(link);
    for (Link& back : draft.at(link.to).links)
      if (back.to == lower) back.to = upper;
  }
  draft.Remove(lower);
}

}  // namespace

NodeIndex NvSwitches::Of(Draft& draft, std::uint32_t view,
                         const std::optional<NvlinkFabric>& domain, std::uint32_t host) {
  const auto [it, fresh] = [&]() -> std::pair<NodeIndex*, bool> {
    if (domain && join_fabrics_) {
      const auto [at, added] = of_domain_.emplace(*domain, NodeIndex{});
      return {&at->second, added};
    }
    const auto [at, added] = of_view_.emplace(view, NodeIndex{});
    return {&at->second, added};
  }();
  if (fresh) {
    const std::uint32_t number = count_[draft.RootOf(host)]++;
    *it = draft.Add(NodeKind::kNvs, host, number, number);
  }
  return *it;
}

void AddGpuLinks(Draft& draft, const HostView& view, std::uint32_t view_number, const Tree& tree,
                 NvSwitches& switches, Rules rules) {
  for (const auto& key : tree.device_order) {
    const Device& device = tree.devices.at(key);
    for (std::size_t half = 0; half < device.halves.size(); ++half) {
      const Gpu& gpu = view.gpus[device.gpus[half]];
      for (const GpuLink& link : gpu.links)
        AddGpuLink(draft, gpu, link, tree, device, half, view_number, switches, rules);
    }
  }
}

void AddC2cLinks(Draft& draft, const HostView& view, const Tree& tree) {
  for (const auto& key : tree.device_order) {
    const Device& device = tree.devices.at(key);
    std::optional<NodeIndex> bus;
    for (std::size_t half = 0; half < device.halves.size(); ++half) {
      for (const C2cLink& link : view.gpus[device.gpus[half]].c2c) {
        const Bandwidth bandwidth = Times({link.mb_per_s}, link.count);
        if (bandwidth.mb_per_s == 0) continue;
        if (device.halves.size() == 1) {
          draft.Join(device.halves[half], device.cpu, LinkKind::kC2c, bandwidth);
          continue;
        }
        if (!bus) {
          bus = draft.Add(NodeKind::kCxb, key.first, 0, key.second.value);
          draft.Join(*bus, device.cpu, LinkKind::kC2c, bandwidth);
        }
        draft.Join(device.halves[half], *bus, LinkKind::kC2c, bandwidth);
      }
    }
  }
}

void AddPciLinks(Draft& draft, const HostView& view, const Tree& tree) {
  std::map<std::pair<std::uint32_t, BusId>, NodeIndex> switches;
  for (std::uint32_t i = 0; i < view.pci.size(); ++i)
    if (const auto node = tree.switches[i])
      switches.emplace(std::pair(draft.at(*node).host, view.pci[i].bus), *node);
  for (std::uint32_t i = 0; i < view.pci.size(); ++i) {
    const std::optional<NodeIndex> node = tree.switches[i];
    if (!node) continue;
    for (const BusId peer : view.pci[i].peers) {
      const auto at = switches.find({draft.at(*node).host, peer});
      if (at != switches.end() && at->second != *node)
        draft.AddLink(*node, at->second, LinkKind::kLocal, kLocalLink);
    }
  }
}

void FlattenBroadcom(Draft& draft) {
  for (std::uint32_t i = 0; i < draft.node_count(); ++i) {
    const NodeIndex upper{i};
    if (draft.at(upper).kind != NodeKind::kPci || draft.removed(upper)) continue;
    const std::uint64_t pattern = LowerLevelOf(draft.pci_switch(upper).ids);
    if (pattern == 0) continue;
    std::vector<NodeIndex> lower;
    for (const Link& link : draft.at(upper).links)
      if (draft.at(link.to).kind == NodeKind::kPci &&
          (draft.pci_switch(link.to).ids & kBroadcomMask) == pattern &&
          std::find(lower.begin(), lower.end(), link.to) == lower.end())
        lower.push_back(link.to);
    for (const NodeIndex node : lower) Absorb(draft, upper, node);
    draft.pci_switch(upper).ids |= kBroadcomDone;
  }
}

void AddSockets(Draft& draft, const HostView& view, const Tree& tree, Rules rules) {
  for (std::size_t from = 0; from < tree.cpus.size(); ++from) {
    const CpuModel& model = view.ModelOf(view.numa_nodes[from]);
    const Bandwidth bandwidth =
        rules == Rules::kNccl ? SocketInterconnect(model) : KnownInterconnect(model);
    for (std::size_t to = 0; to < tree.cpus.size(); ++to)
      if (from != to && tree.hosts[from] == tree.hosts[to])
        draft.Insert(tree.cpus[from], tree.cpus[to], LinkKind::kSocket, bandwidth);
  }
}

void AddPlainNets(Draft& draft, const HostView& view, const Tree& tree, bool unknown_net) {
  std::vector<NetInterface> nets = view.nets;
  if (nets.empty() && unknown_net) nets.push_back({"unknown", std::nullopt, std::nullopt});
  for (std::uint32_t i = 0; i < nets.size(); ++i) {
    const NetInterface& net = nets[i];
    if (net.nic || !net.net_api.value_or(true)) continue;
    const auto at = std::find_if(view.numa_nodes.begin(), view.numa_nodes.end(),
                                 [&](const NumaNode& numa) { return numa.id == net.numa; });
    const auto position = static_cast<std::size_t>(at - view.numa_nodes.begin());
    const NodeIndex cpu = tree.cpus[at == view.numa_nodes.end() ? 0 : position];
    const std::uint32_t number = net.dev.value_or(i);
    const NodeIndex node = draft.Add(NodeKind::kNet, draft.at(cpu).host, number, number);
    draft.at(node).name = net.name;
    NetFacts facts;
    facts.chip = net.guid.value_or(std::uint64_t{draft.at(cpu).host} << 56 | number);
    facts.slot = facts.chip;
    draft.Describe(node, facts);
    draft.Append(cpu, node, LinkKind::kNetwork, NetworkInterface(net.speed_mbit_per_s));
  }
}

}  // namespace ringlet::topology
