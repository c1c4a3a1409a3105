#include "topology/graph/port_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/settings/setting_table.hpp"
#include "base/value/text.hpp"
#include "topology/view/refuse.hpp"

namespace ringlet::topology {
namespace {

constexpr std::size_t kPortNamesShown = 4;
constexpr std::size_t kPortNameBytesShown = 60;
constexpr std::size_t kHcaNamesMax = 32;  // NCCL's

Error RefuseRule(std::string_view variable, std::string_view value, std::string_view why) {
  return Refuse(fmt::format("{}={}: {}", variable, Quoted(Printable(value, 100)), why));
}

/// "a, b and 3 more".
std::string ListText(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kPortNamesShown; ++i)
    text += (i > 0 ? ", " : "") + Printable(names[i], kPortNameBytesShown);
  if (names.size() > kPortNamesShown)
    text += fmt::format(" and {} more", names.size() - kPortNamesShown);
  return text;
}

std::string Ports(std::size_t count) {
  return fmt::format("{} port{}", count, count == 1 ? "" : "s");
}

/// NCCL numbers InfiniBand ports from 1. Its sockets all have port 0.
bool IsRdma(const NetInterface& net) {
  return !net.rdma_device.empty() || net.port.value_or(0) > 0;
}

bool IsUsed(const NetInterface& net) {
  return net.net_api.value_or(true);
}

std::vector<std::string> RemovePorts(HostView& view, const HcaRule& rule) {
  std::vector<std::string> left_out;
  if (rule.empty()) return left_out;
  for (NetInterface& net : view.nets) {
    const std::string& name = net.rdma_device.empty() ? net.name : net.rdma_device;
    if (!IsRdma(net) || !IsUsed(net) || rule.Allows(name, net.port.value_or(0))) continue;
    net.net_api = false;
    left_out.push_back(net.name);
  }
  return left_out;
}

/// The ports that `before` uses, `after` does not use, and no added port contains.
std::vector<std::string> WithoutPlace(const HostView& before, const HostView& after) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < before.nets.size(); ++i) {
    if (!IsUsed(before.nets[i]) || IsUsed(after.nets[i])) continue;
    const bool merged = std::any_of(
        after.nets.begin() + static_cast<std::ptrdiff_t>(before.nets.size()), after.nets.end(),
        [&](const NetInterface& added) {
          return std::ranges::find(added.members, before.nets[i].name) != added.members.end();
        });
    if (!merged) names.push_back(before.nets[i].name);
  }
  return names;
}

}  // namespace

Result<HcaRule> HcaRule::Parse(std::string_view text, std::vector<std::string>* ignored) {
  HcaRule rule;
  std::string_view rest = Trim(text);
  if (rest.starts_with('^')) rule.exclude_ = true, rest.remove_prefix(1);
  if (rest.starts_with('=')) rule.exact_ = true, rest.remove_prefix(1);
  for (const std::string_view words : Split(rest, ',')) {
    const std::string_view entry = Trim(words);
    if (entry.empty()) continue;
    const std::vector<std::string_view> parts = Split(entry, ':');
    HcaName one{.name = std::string(parts.front()), .port = {}};
    const bool numbers = std::all_of(parts.begin() + 1, parts.end(), [](std::string_view part) {
      return part.empty() || ParseDecimal(part).has_value();
    });
    constexpr std::size_t kPartsMax = 4;  // name, port, rail, plane
    const bool is_port = !one.name.empty() && numbers && parts.size() <= kPartsMax;
    if (is_port && rule.names_.size() < kHcaNamesMax) {
      if (parts.size() > 1) one.port = ParseDecimal(parts[1]);
      rule.names_.push_back(std::move(one));
    } else if (ignored) {
      ignored->emplace_back(entry);
    } else if (is_port) {
      return Refuse(fmt::format("more than {} ports are named", kHcaNamesMax));
    } else {
      return Refuse(fmt::format("{} is not a port; a port is a name, or name:port",
                                Quoted(Printable(entry, kPortNameBytesShown))));
    }
  }
  return rule;
}

bool HcaRule::Allows(std::string_view name, std::uint32_t port) const {
  if (names_.empty()) return true;
  const bool named = std::any_of(names_.begin(), names_.end(), [&](const HcaName& entry) {
    const bool fits = exact_ ? name == entry.name : name.starts_with(entry.name);
    return fits && (!entry.port || *entry.port == port);
  });
  return named != exclude_;
}

Result<PortRules> ReadPortRules(const Settings& settings) {
  PortRules rules;
  if (const std::string_view level = Trim(settings.net_merge_level); !level.empty()) {
    const Result<PortDistance> parsed = ParseMergeLevel(level);
    if (!parsed.ok())
      return RefuseRule(VariableOf(settings, "NET_MERGE_LEVEL"), level, parsed.error().message);
    rules.merge.level = *parsed;
  }
  const std::string_view policy = Trim(settings.net_merge_policy);
  rules.merge.same_rail = EqualIgnoringCase(policy, "RAIL");
  if (!policy.empty() && !rules.merge.same_rail && !EqualIgnoringCase(policy, "ALL"))
    return RefuseRule(VariableOf(settings, "NET_MERGE_POLICY"), policy, "it must be ALL or RAIL");
  rules.merge.forced = ParseForcedMerge(settings.net_force_merge);
  std::vector<std::string> ignored;
  Result<HcaRule> hca =
      HcaRule::Parse(settings.ib_hca, IsSetByNccl(settings, "IB_HCA") ? &ignored : nullptr);
  if (!hca.ok())
    return RefuseRule(VariableOf(settings, "IB_HCA"), settings.ib_hca, hca.error().message);
  rules.hca = *std::move(hca);
  if (!ignored.empty())
    rules.notes.push_back(
        fmt::format("entries of {} are ignored, as in NCCL: {}; an entry is a name, or name:port, "
                    "and at most {} count",
                    VariableOf(settings, "IB_HCA"), ListText(ignored), kHcaNamesMax));
  return rules;
}

Result<PlannedPorts> ApplyPortRules(HostView view, const PortRules& rules) {
  PlannedPorts planned{.view = {}, .notes = rules.notes};
  const std::vector<std::string> unwanted = RemovePorts(view, rules.hca);
  if (!unwanted.empty())
    planned.notes.push_back(
        fmt::format("left out by IB_HCA: {}: {}", Ports(unwanted.size()), ListText(unwanted)));
  RINGLET_TRY_ASSIGN(planned.view, MergeNics(view, rules.merge));
  std::vector<std::string> merged;
  for (std::size_t i = view.nets.size(); i < planned.view.nets.size(); ++i)
    merged.push_back(planned.view.nets[i].name);
  if (!merged.empty())
    planned.notes.push_back(fmt::format(
        "merged as in NCCL (NCCL_NET_MERGE_LEVEL=LOC prevents it): {} of several each: {}",
        Ports(merged.size()), ListText(merged)));
  const std::vector<std::string> no_place = WithoutPlace(view, planned.view);
  if (!no_place.empty())
    planned.notes.push_back(
        fmt::format("left out, because NCCL merges them and cannot place the result "
                    "(NCCL_NET_MERGE_LEVEL=LOC prevents it): {} without a PCI function: {}",
                    Ports(no_place.size()), ListText(no_place)));
  return planned;
}

}  // namespace ringlet::topology
