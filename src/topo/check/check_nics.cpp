// Rules about NICs: NICs of one model in similar places have equal links and rates.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "topo/check/check_context.hpp"

namespace ringlet::topology {
namespace {

using NicGroup = std::vector<const CheckedNic*>;

void CheckNicPcie(CheckContext& context, const NicGroup& group) {
  std::vector<std::uint64_t> rates;
  for (const CheckedNic* nic : group) rates.push_back(LinkOf(context.At(*nic)).mb_per_s);
  const Majority most = MajorityOf(rates);
  if (most.value == 0 || most.count * 2 <= group.size()) return;
  const auto norm =
      static_cast<std::size_t>(std::find(rates.begin(), rates.end(), most.value) - rates.begin());
  const PciDevice& peer = context.At(*group[norm]);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const PciDevice& device = context.At(*group[i]);
    if (rates[i] == 0 || rates[i] >= most.value) continue;
    context.Add("nic-pcie", {PartKind::kPci, group[i]->pci}, context.NameOf(*group[i]),
                fmt::format("{}, {}; {} of its {} peers have {}, {}", LinkText(device),
                            RateText(LinkOf(device)), most.count, group.size() - 1, LinkText(peer),
                            RateText(LinkOf(peer))),
                "reseat the card, or move it to a slot as wide as those of its peers",
                {PcieChange{group[i]->pci, peer.link_speed, peer.link_width}});
  }
}

void CheckPorts(CheckContext& context, const NicGroup& group) {
  const HostView& view = context.view();
  std::vector<std::uint32_t> nets;
  std::vector<std::uint64_t> rates;
  std::size_t with_gdr = 0;
  for (const CheckedNic* nic : group)
    for (const std::uint32_t net : nic->nets) {
      nets.push_back(net);
      rates.push_back(context.RateOf(net).value_or(0));
      if (view.nets[net].gdr.value_or(false)) ++with_gdr;
    }
  if (nets.size() < 2) return;
  const Majority most = MajorityOf(rates);
  const bool is_norm = most.count * 2 > nets.size() ||
                       (nets.size() == 2 && most.count == 1 && group.front()->beside_gpu);
  for (std::size_t i = 0; i < nets.size() && is_norm; ++i)
    if (rates[i] != 0 && rates[i] < most.value)
      context.Add("nic-rate", {PartKind::kNet, nets[i]}, context.NameOfPort(nets[i]),
                  fmt::format("{}; {} of its {} peers have {}", GigabitText(rates[i]), most.count,
                              nets.size() - 1, GigabitText(most.value)),
                  "ibstat or ethtool shows the state of the port; clean or replace cable and "
                  "transceiver, and check the setting of the switch port",
                  {RateChange{nets[i], static_cast<std::uint32_t>(most.value)}});
  for (const std::uint32_t net : nets)
    if (with_gdr * 2 > nets.size() && view.nets[net].gdr == false)
      context.Add(
          "nic-gdr", {PartKind::kNet, net}, context.NameOfPort(net),
          fmt::format("no GPUDirect RDMA; {} of its {} peers have it", with_gdr, nets.size() - 1),
          "check that the NIC has the same driver as its peers",
          {GdrChange{{PartKind::kNet, net}}});
}

/// The devices below one top function of a NUMA node.
struct Branch {
  std::size_t gpus = 0;
  std::vector<const CheckedNic*> nics = {};
};

/// Finds PCIe switches with their peers' number of GPUs but fewer NICs of the peers' model.
void CheckBranches(CheckContext& context) {
  const HostView& view = context.view();
  std::map<std::uint32_t, Branch> branches;
  for (const CheckedGpu& gpu : context.gpus()) ++branches[context.RootOf(gpu.pci)].gpus;
  std::map<std::string, std::map<std::uint32_t, NicGroup>> models;
  for (const CheckedNic& nic : context.nics())
    if (nic.beside_gpu) models[context.ModelKey(nic)][context.RootOf(nic.pci)].push_back(&nic);
  for (auto& [model, by_root] : models) {
    std::vector<std::uint64_t> counts;
    for (const auto& [root, branch] : branches)
      counts.push_back(by_root.contains(root) ? by_root.at(root).size() : 0);
    const Majority most = MajorityOf(counts);
    // The limit is three of four: if half of the switches lack a NIC, that is the design.
    if (branches.size() < 4 || most.value == 0 || most.count * 4 < branches.size() * 3) continue;
    const NicGroup& peers = by_root.begin()->second;
    for (const auto& [root, branch] : branches) {
      const std::size_t count = by_root.contains(root) ? by_root.at(root).size() : 0;
      if (count >= most.value ||
          view.pci[root].ids != view.pci[context.RootOf(peers.front()->pci)].ids)
        continue;
      std::vector<Change> repair;
      for (std::size_t i = count; i < most.value && peers.front()->nic; ++i)
        repair.emplace_back(NicAdded{*peers.front()->nic, {PartKind::kPci, root}});
      context.Add("nic-missing", {PartKind::kPci, root}, context.NameOfFunction(root),
                  fmt::format("it has {} of {} NICs; {} of {} other switches have all", count,
                              most.value, most.count, branches.size() - 1),
                  "lspci shows whether the NIC is on the bus; if it is, check its driver and its "
                  "port; NCCL ignores ports that are down",
                  std::move(repair));
    }
  }
}

/// Compares switches of one model right below NUMA nodes and above GPUs: links are equal.
void CheckSwitches(CheckContext& context) {
  const HostView& view = context.view();
  std::map<std::uint64_t, std::vector<std::uint32_t>> models;
  std::set<std::uint32_t> seen;
  for (const CheckedGpu& gpu : context.gpus()) {
    const std::uint32_t root = context.RootOf(gpu.pci);
    if (root != gpu.pci && view.pci[root].ids.vendor != 0 && seen.insert(root).second)
      models[view.pci[root].ids.packed()].push_back(root);
  }
  for (const auto& [model, roots] : models) {
    std::vector<std::uint64_t> rates;
    for (const std::uint32_t root : roots) rates.push_back(LinkOf(view.pci[root]).mb_per_s);
    const Majority most = MajorityOf(rates);
    // The limit is three of four, because half of the switches may have another purpose.
    if (roots.size() < 4 || most.value == 0 || most.count * 4 < roots.size() * 3) continue;
    const PciDevice& peer = view.pci[roots[static_cast<std::size_t>(
        std::ranges::find(rates, most.value) - rates.begin())]];
    for (std::size_t i = 0; i < roots.size(); ++i)
      if (rates[i] != 0 && rates[i] < most.value)
        context.Add(
            "switch-pcie", {PartKind::kPci, roots[i]}, context.NameOfFunction(roots[i]),
            fmt::format("{}, {}; {} of its {} peers have {}, {}", LinkText(view.pci[roots[i]]),
                        RateText(LinkOf(view.pci[roots[i]])), most.count, roots.size() - 1,
                        LinkText(peer), RateText(LinkOf(peer))),
            "reset the machine; if the link stays slow, replace the switch or its cable",
            {PcieChange{roots[i], peer.link_speed, peer.link_width}});
  }
}

}  // namespace

void CheckNics(CheckContext& context) {
  std::map<std::string, NicGroup> groups;
  for (const CheckedNic& nic : context.nics()) groups[context.ModelKey(nic)].push_back(&nic);
  for (const auto& [model, group] : groups) {
    if (group.size() > 1) CheckNicPcie(context, group);
    CheckPorts(context, group);
  }
  CheckBranches(context);
  CheckSwitches(context);
}

}  // namespace ringlet::topology
