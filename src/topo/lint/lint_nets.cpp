// Rules about NICs and their ports.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/value/text.hpp"
#include "topo/lint/lint_context.hpp"
#include "topology/graph/bandwidth.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kNetNameBytesShown = 40;

using NetKey = std::pair<std::uint32_t, std::string>;  // number and name

/// Returns the interfaces of each NIC, by number and name.
std::vector<std::set<NetKey>> NetsOfNics(const HostView& view) {
  std::vector<std::set<NetKey>> nets(view.nics.size());
  for (const NetInterface& net : view.nets)
    if (net.nic && net.dev) nets[*net.nic].emplace(*net.dev, net.name);
  return nets;
}

/// Finds NICs on a NUMA node without a PCI function and without a new interface of the host. NCCL
/// writes them, each at the rank's own cpu, if ranks disagree on the first cpu.
std::vector<bool> LintNicsOfNodes(LintContext& context) {
  const HostView& view = context.view();
  const std::vector<std::set<NetKey>> nets = NetsOfNics(view);
  std::map<std::uint64_t, std::uint32_t> first;
  std::map<std::uint64_t, std::set<NetKey>> seen;
  std::vector<bool> repeated(view.nics.size(), false);
  for (std::uint32_t i = 0; i < view.nics.size(); ++i) {
    if (view.nics[i].parent.kind != PartKind::kNuma) continue;
    const Part part{PartKind::kNic, i};
    const std::uint64_t host = context.HostOf(part);
    const auto [before, is_new] = first.emplace(host, i);
    std::set<NetKey>& known = seen[host];
    const bool is_repeated =
        !is_new && !nets[i].empty() &&
        std::includes(known.begin(), known.end(), nets[i].begin(), nets[i].end());
    known.insert(nets[i].begin(), nets[i].end());
    if (is_new || view.nics[before->second].parent == view.nics[i].parent) continue;
    const std::string where = context.Where({PartKind::kNic, before->second});
    repeated[i] = is_repeated;
    if (is_repeated)
      context.AddFinding(
          Severity::kNote, "net-twice", part, "",
          fmt::format("its interfaces are those of {}: NCCL itself writes them at the NUMA "
                      "node of each rank, and treats them as one device at the first",
                      where),
          "");
    else
      context.AddFinding(
          Severity::kWarning, "joined-nics", part, "",
          fmt::format("NCCL treats NICs without a PCI function as one device, at the first "
                      "of their NUMA nodes ({})",
                      where),
          "give each nic its pci");
  }
  return repeated;
}

/// Finds two interfaces with one number.
void LintSameDevice(LintContext& context, Part part, std::uint32_t first) {
  const HostView& view = context.view();
  const NetInterface& net = view.nets[part.index];
  const std::string where = context.Where({PartKind::kNet, first});
  if (net.name == view.nets[first].name)
    return context.AddFinding(
        Severity::kWarning, "net-twice", part, "",
        fmt::format("\"{}\" is already at {}", Printable(net.name, kNetNameBytesShown), where),
        "keep only the one in the right place");
  context.AddFinding(Severity::kError, "duplicate-net", part, "dev",
                     fmt::format("device {} is already used at {}", *net.dev, where),
                     "dev is the number in the order of detection; it is unique");
}

/// A GUID identifies a chip. Functions of one card share it; cards do not. The exception is Socket
/// Direct cards, which reach a second processor by a second slot: then all cards of the host share
/// it.
void LintGuids(LintContext& context) {
  const HostView& view = context.view();
  using Slot = std::pair<std::uint64_t, std::uint64_t>;  // host, and the bus id without function
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::map<Slot, std::uint32_t>> chips;
  for (std::uint32_t i = 0; i < view.nets.size(); ++i) {
    const NetInterface& net = view.nets[i];
    if (!net.guid || *net.guid == 0 || !net.nic) continue;
    const Part parent = view.nics[*net.nic].parent;
    if (parent.kind != PartKind::kPci) continue;
    const std::uint64_t host = context.HostOf({PartKind::kNet, i});
    chips[{host, *net.guid}].emplace(Slot{host, view.pci[parent.index].bus.value >> 4}, i);
  }
  const auto shared =
      std::ranges::count_if(chips, [](const auto& chip) { return chip.second.size() > 1; });
  if (static_cast<std::size_t>(shared) * 2 > chips.size() && chips.size() > 1) return;
  for (const auto& [chip, slots] : chips) {
    const std::uint32_t first = slots.begin()->second;
    for (const auto& [slot, net] : slots)
      if (net != first)
        context.AddFinding(
            Severity::kWarning, "duplicate-guid", {PartKind::kNet, net}, "guid",
            fmt::format(
                "the GUID {:#x} is already used at {}, which is in another slot; NCCL treats ports "
                "with one GUID as one chip, and divides its bandwidth among them",
                chip.second, context.Where({PartKind::kNet, first})),
            "ibv_devinfo shows the sys_image_guid of each card");
  }
}

/// Finds an impossible rate. NCCL merges up to four ports into one.
void LintRate(LintContext& context, Part part) {
  const NetInterface& net = context.view().nets[part.index];
  if (net.speed_mbit_per_s.value_or(0) <= kPortRateMaxMbitPerS) return;
  const std::uint32_t as_kbit = *net.speed_mbit_per_s / 1000;
  context.AddFinding(
      Severity::kError, "impossible-rate", part, "speed",
      fmt::format("a speed of {} Gbit/s is impossible for a port", *net.speed_mbit_per_s / 1000),
      as_kbit <= kPortRateMaxMbitPerS
          ? fmt::format("speed is in Mbit/s: write \"{}\" if the number is in kbit/s", as_kbit)
          : "speed is in Mbit/s; ibstat or ethtool shows the rate");
}

}  // namespace

void LintNets(LintContext& context) {
  const HostView& view = context.view();
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> devices;
  const std::vector<bool> repeated = LintNicsOfNodes(context);
  for (std::uint32_t i = 0; i < view.nets.size(); ++i) {
    const NetInterface& net = view.nets[i];
    const Part part{PartKind::kNet, i};
    if (net.nic && repeated[*net.nic]) continue;
    if (!net.dev) {
      context.AddFinding(
          Severity::kWarning, "net-without-device", part, "",
          "dev is missing; NCCL ignores the element unless it finds the device itself", "");
      continue;
    }
    const auto [first, is_new] = devices.emplace(std::pair(context.HostOf(part), *net.dev), i);
    if (!is_new) LintSameDevice(context, part, first->second);
    LintRate(context, part);
    if (!net.speed_mbit_per_s)
      context.AddFinding(Severity::kNote, "no-speed", part, "speed",
                         fmt::format("the speed of \"{}\" is unknown; NCCL assumes 10 Gbit/s",
                                     Printable(net.name, kNetNameBytesShown)),
                         "");
  }
  LintGuids(context);
}

}  // namespace ringlet::topology
