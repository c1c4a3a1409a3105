// Rules about NICs and their ports.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/value/text.hpp"
#include "topology/lint/lint_context.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kNetNameBytesShown = 40;

using NetKey = std::pair<std::uint32_t, std::string>;  // number and name

/// The interfaces of each NIC, by number and name.
std::vector<std::set<NetKey>> NetsOfNics(const HostView& view) {
  std::vector<std::set<NetKey>> nets(view.nics.size());
  for (const NetInterface& net : view.nets)
    if (net.nic && net.dev) nets[*net.nic].emplace(*net.dev, net.name);
  return nets;
}

/// NICs that hang on a NUMA node without a PCI function, and show no interface that an earlier one
/// of the host does not. NCCL writes such where ranks do not agree on the first cpu: each at its
/// own.
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
      context.Say(Severity::kNote, "net-twice", part, "",
                  fmt::format("its interfaces are those of {}: NCCL itself writes them at each "
                              "rank's NUMA node, and takes them for one device at the first",
                              where),
                  "");
    else
      context.Say(Severity::kWarning, "joined-nics", part, "",
                  fmt::format("NCCL takes NICs without a PCI function for one device, at the first "
                              "of their NUMA nodes ({})",
                              where),
                  "give each nic its pci");
  }
  return repeated;
}

/// Two interfaces with one number.
void LintSameDevice(LintContext& context, Part part, std::uint32_t first) {
  const HostView& view = context.view();
  const NetInterface& net = view.nets[part.index];
  const std::string where = context.Where({PartKind::kNet, first});
  if (net.name == view.nets[first].name)
    return context.Say(
        Severity::kWarning, "net-twice", part, "",
        fmt::format("\"{}\" is already at {}", Printable(net.name, kNetNameBytesShown), where),
        "keep it where it belongs");
  context.Say(Severity::kError, "duplicate-net", part, "dev",
              fmt::format("device {} is already that of {}", *net.dev, where),
              "dev is the number in the order of detection; every net has its own");
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
      context.Say(Severity::kWarning, "net-without-device", part, "",
                  "dev is missing; NCCL ignores the element unless it finds the device itself", "");
      continue;
    }
    const auto [first, is_new] = devices.emplace(std::pair(context.HostOf(part), *net.dev), i);
    if (!is_new) LintSameDevice(context, part, first->second);
    if (!net.speed_mbit_per_s)
      context.Say(Severity::kNote, "no-speed", part, "speed",
                  fmt::format("the speed of \"{}\" is not known; NCCL takes 10 Gbit/s",
                              Printable(net.name, kNetNameBytesShown)),
                  "");
  }
}

}  // namespace ringlet::topology
