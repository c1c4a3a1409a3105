// Rules about NICs and their ports.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/value/text.hpp"
#include "topology/lint/lint_context.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kNetNameBytesShown = 40;

/// NCCL numbers all NICs that hang on a NUMA node of a host alike.
void LintNicsOfNodes(LintContext& context) {
  const HostView& view = context.view();
  std::map<std::uint64_t, std::uint32_t> first;
  for (std::uint32_t i = 0; i < view.nics.size(); ++i) {
    if (view.nics[i].parent.kind != PartKind::kNuma) continue;
    const Part part{PartKind::kNic, i};
    const auto [before, is_new] = first.emplace(context.HostOf(part), i);
    if (is_new || view.nics[before->second].parent == view.nics[i].parent) continue;
    context.Say(Severity::kWarning, "joined-nics", part, "",
                fmt::format("NCCL takes NICs without a PCI function for one device, at the first "
                            "of their NUMA nodes ({})",
                            context.Where({PartKind::kNic, before->second})),
                "give each nic its pci");
  }
}

/// Two interfaces with one number.
void LintSameDevice(LintContext& context, Part part, std::uint32_t first) {
  const HostView& view = context.view();
  const NetInterface& net = view.nets[part.index];
  const std::string where = context.Where({PartKind::kNet, first});
  if (net.name == view.nets[first].name)
    return context.Say(Severity::kWarning, "net-twice", part, "",
                       fmt::format("\"{}\" is already at {}; NCCL itself writes that where ranks "
                                   "do not agree on the first cpu",
                                   Printable(net.name, kNetNameBytesShown), where),
                       "keep it where it belongs");
  context.Say(Severity::kError, "duplicate-net", part, "dev",
              fmt::format("device {} is already that of {}", *net.dev, where),
              "dev is the number in the order of detection; every net has its own");
}

}  // namespace

void LintNets(LintContext& context) {
  const HostView& view = context.view();
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> devices;
  for (std::uint32_t i = 0; i < view.nets.size(); ++i) {
    const NetInterface& net = view.nets[i];
    const Part part{PartKind::kNet, i};
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
  LintNicsOfNodes(context);
}

}  // namespace ringlet::topology
