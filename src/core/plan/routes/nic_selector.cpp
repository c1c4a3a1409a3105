#include "plan/routes/nic_selector.hpp"

#include <algorithm>
#include <utility>

#include "topology/paths/locality.hpp"

namespace ringlet::plan {
namespace {

using topology::NodeIndex;
using topology::NodeKind;
using topology::PathType;

std::uint32_t PositionIn(std::span<const NodeIndex> nodes, NodeIndex node) {
  return static_cast<std::uint32_t>(
      std::lower_bound(nodes.begin(), nodes.end(), node,
                       [](NodeIndex a, NodeIndex b) { return Index(a) < Index(b); }) -
      nodes.begin());
}

}  // namespace

NicSelector::NicSelector(const RouteTable& table, const SearchOptions& options)
    : table_(table), options_(options) {
  const topology::SystemNodes& system = table.paths().system();
  many_hosts_ = system.end_host - system.first_host > 1;
  FindPorts();
}

void NicSelector::FindPreferences() {
  if (!preferences_.empty()) return;
  preferences_.reserve(table_.device_count());
  types_.reserve(std::size_t{table_.device_count()} * table_.net_count());
  for (std::uint32_t device = 0; device < table_.device_count(); ++device)
    for (std::uint32_t net = 0; net < table_.net_count(); ++net)
      types_.push_back(table_.PathOf({End::kDevice, device}, {End::kNet, net}).type);
  const topology::Paths& paths = table_.paths();
  for (const NodeIndex device : table_.devices()) {
    std::vector<std::uint32_t> list;
    topology::NearNets near;
    if (paths.graph().at(device).kind == NodeKind::kGpu)
      near = topology::NearNetsOf(paths, device, options_.net_policy);
    else
      near.nets = topology::NearestOf(paths, device, NodeKind::kNet);
    for (std::uint32_t channel = 0; !near.nets.empty(); ++channel) {
      const std::uint32_t net = PositionIn(table_.nets(), near.For(channel));
      if (!list.empty() && net == list.front()) break;
      list.push_back(net);
    }
    preferences_.push_back(std::move(list));
  }
}

void NicSelector::FindNear() {
  if (!near_.empty()) return;
  near_.reserve(table_.net_count());
  const topology::Paths& paths = table_.paths();
  const NodeKind kind = paths.Of(NodeKind::kGpu).empty() ? NodeKind::kRank : NodeKind::kGpu;
  for (const NodeIndex net : table_.nets()) {
    std::vector<std::uint32_t> near;
    const std::optional<NodeIndex> local = paths.LocalGpu(net);
    if (local) near.push_back(PositionIn(table_.devices(), *local));
    for (const NodeIndex device : topology::NearestOf(paths, net, kind))
      if (device != local) near.push_back(PositionIn(table_.devices(), device));
    near_.push_back(std::move(near));
    preferred_.push_back(local.has_value());
  }
}

void NicSelector::FindPorts() {
  const topology::Graph& graph = table_.paths().graph();
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ports;
  ports.reserve(table_.net_count());
  port_.reserve(table_.net_count());
  for (const NodeIndex net : table_.nets()) {
    const topology::NetFacts& facts = graph.net(net);
    const std::pair port(facts.chip, facts.port);
    const auto at = std::find(ports.begin(), ports.end(), port) - ports.begin();
    if (static_cast<std::size_t>(at) == ports.size()) ports.push_back(port);
    port_.push_back(static_cast<std::uint32_t>(at));
  }
  port_count_ = static_cast<std::uint32_t>(ports.size());
}

void NicSelector::Append(std::vector<std::uint32_t>& list, std::vector<bool>& seen,
                         std::uint32_t net) const {
  if (seen[net]) return;
  seen[net] = true;
  list.push_back(net);
}

std::vector<std::uint32_t> NicSelector::Build(std::optional<std::uint32_t> device,
                                              PathType farthest) const {
  const std::uint32_t first = device.value_or(0);
  const std::uint32_t end = device ? *device + 1 : table_.device_count();
  std::vector<std::uint32_t> list;
  std::vector<bool> seen(table_.net_count(), false);
  if (many_hosts_ && options_.scatter_nets) {
    for (std::uint32_t channel = 0, more = 1; more > 0; ++channel) {
      more = 0;
      for (std::uint32_t d = first; d < end; ++d) {
        if (channel >= preferences_[d].size()) continue;
        Append(list, seen, preferences_[d][channel]);
        ++more;
      }
    }
  } else {
    for (std::uint32_t d = first; d < end; ++d)
      for (const std::uint32_t net : preferences_[d]) Append(list, seen, net);
  }
  for (int type = 0; type <= static_cast<int>(farthest); ++type)
    for (std::uint32_t d = first; d < end; ++d)
      for (std::uint32_t net = 0; net < table_.net_count(); ++net)
        if (types_[d * table_.net_count() + net] == static_cast<PathType>(type))
          Append(list, seen, net);
  if (options_.net_policy.kind == topology::NetPolicy::Kind::kMax) {
    const std::size_t most = std::size_t{options_.net_policy.max} * (end - first);
    if (list.size() > most) list.resize(most);
  }
  return list;
}

const std::vector<std::uint32_t>& NicSelector::Of(std::uint32_t device, PathType farthest) {
  auto& lists = lists_[static_cast<std::size_t>(farthest)];
  if (lists.empty()) lists.resize(table_.device_count() + 1);
  auto& list = lists[device];
  const bool all = device == table_.device_count();
  if (list) return *list;
  FindPreferences();
  list = Build(all ? std::nullopt : std::optional(device), farthest);
  return *list;
}

const std::vector<std::uint32_t>& NicSelector::OfAll(PathType farthest) {
  return Of(table_.device_count(), farthest);
}

}  // namespace ringlet::plan
