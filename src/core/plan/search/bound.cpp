#include "plan/search/bound.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "plan/search/channel_search.hpp"

namespace ringlet::plan {
namespace {

using topology::Bandwidth;
using topology::Graph;
using topology::NodeIndex;
using topology::NodeKind;

constexpr std::int64_t kUnlimited = topology::kLocalLink.mb_per_s;

/// The links on any route of a channel. Null if a route crosses the network: its links are unknown.
std::optional<std::vector<bool>> UsedLinks(RouteTable& table, bool multi_node) {
  std::vector<bool> used(table.link_count(), false);
  bool free = false;
  const auto add = [&](EndIndex from, EndIndex to) {
    const Route& route = table.Find(from, to);
    free = free || route.type == topology::PathType::kNet;
    if (route.type >= topology::PathType::kNet) return;
    for (std::uint32_t i = 0; i < route.count; ++i) used[table.Steps(route)[i].link] = true;
  };
  for (std::uint32_t a = 0; a < table.device_count(); ++a) {
    for (std::uint32_t b = 0; b < table.device_count(); ++b)
      add({End::kDevice, a}, {End::kDevice, b});
    for (std::uint32_t net = 0; multi_node && net < table.net_count(); ++net) {
      add({End::kDevice, a}, {End::kNet, net});
      add({End::kNet, net}, {End::kDevice, a});
    }
  }
  if (free) return std::nullopt;
  return used;
}

/// The used links as a flow network. One more node represents all other hosts.
class FlowNetwork {
 public:
  FlowNetwork(const RouteTable& table, const std::vector<bool>& used)
      : first_(table.paths().system().first) {
    const Graph& graph = table.paths().graph();
    const topology::SystemNodes& system = table.paths().system();
    edges_of_.resize(system.end - system.first + 1);
    std::size_t number = 0;
    for (std::uint32_t i = system.first; i < system.end; ++i)
      for (const topology::Link& link : graph.nodes()[i].links)
        if (used[number++]) Add(i - first_, Index(link.to) - first_, link.bandwidth.mb_per_s);
    for (std::uint32_t net = 0; net < table.net_count(); ++net) {
      const std::uint32_t node = Index(table.nets()[net]) - first_;
      Add(outside(), node, table.NetMbPerS(net));
      Add(node, outside(), table.NetMbPerS(net));
    }
  }

  std::uint32_t outside() const { return static_cast<std::uint32_t>(edges_of_.size() - 1); }
  std::uint32_t At(NodeIndex node) const { return Index(node) - first_; }

  /// The bandwidth from a device to anything but its own ranks.
  std::int64_t OutOf(NodeIndex node, const Graph& graph) const {
    std::int64_t out = 0;
    for (const std::uint32_t edge : edges_of_[At(node)]) {
      const bool to_rank = edges_[edge].to != outside() &&
                           graph.nodes()[first_ + edges_[edge].to].kind == NodeKind::kGpu;
      if (!to_rank) out += edges_[edge].capacity;
    }
    return out;
  }

  /// The maximum flow, or `enough` if the flow is at least that.
  std::int64_t Flow(std::uint32_t from, std::uint32_t to, std::int64_t enough) {
    if (Direct(from, to) >= enough) return enough;
    for (CutEdge& edge : edges_) edge.left = edge.capacity;
    std::int64_t flow = 0;
    while (flow < enough) {
      const std::int64_t more = Augment(from, to);
      if (more == 0) break;
      flow += more;
    }
    return std::min(flow, enough);
  }

 private:
  struct CutEdge {
    std::uint32_t to = 0;
    std::int64_t capacity = 0;
    std::int64_t left = 0;
  };

  std::int64_t Direct(std::uint32_t from, std::uint32_t to) const {
    std::int64_t sum = 0;
    for (const std::uint32_t edge : edges_of_[from])
      if (edges_[edge].to == to) sum += edges_[edge].capacity;
    return sum;
  }

  /// Edge 2k + 1 is the reverse of edge 2k in the residual network.
  void Add(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
    edges_of_[from].push_back(static_cast<std::uint32_t>(edges_.size()));
    edges_.push_back({to, capacity, 0});
    edges_of_[to].push_back(static_cast<std::uint32_t>(edges_.size()));
    edges_.push_back({from, 0, 0});
  }

  /// Adds flow along a shortest path with remaining capacity.
  std::int64_t Augment(std::uint32_t from, std::uint32_t to) {
    constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();
    by_.assign(edges_of_.size(), kUnseen);
    queue_.assign(1, from);
    for (std::size_t i = 0; i < queue_.size() && by_[to] == kUnseen; ++i) {
      for (const std::uint32_t edge : edges_of_[queue_[i]]) {
        const std::uint32_t next = edges_[edge].to;
        if (edges_[edge].left == 0 || by_[next] != kUnseen || next == from) continue;
        by_[next] = edge;
        queue_.push_back(next);
      }
    }
    if (by_[to] == kUnseen) return 0;
    std::int64_t width = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t at = to; at != from; at = edges_[by_[at] ^ 1].to)
      width = std::min(width, edges_[by_[at]].left);
    for (std::uint32_t at = to; at != from; at = edges_[by_[at] ^ 1].to) {
      edges_[by_[at]].left -= width;
      edges_[by_[at] ^ 1].left += width;
    }
    return width;
  }

  std::uint32_t first_;
  std::vector<CutEdge> edges_;
  std::vector<std::vector<std::uint32_t>> edges_of_;
  std::vector<std::uint32_t> by_, queue_;
};

/// The node that holds a device's links.
NodeIndex HardwareOf(const Graph& graph, NodeIndex end) {
  return graph.at(end).kind == NodeKind::kGpu ? graph.gpu(end).device : end;
}

/// The bandwidth from a device to its NVSwitch.
std::int64_t ToSwitch(const Graph& graph, NodeIndex end) {
  std::int64_t out = 0;
  for (const topology::Link& link : graph.at(HardwareOf(graph, end)).links)
    if (graph.at(link.to).kind == NodeKind::kNvs) out += link.bandwidth.mb_per_s;
  return out;
}

/// Minimum cuts between one node, the hub, and many others. If all devices are on one NVSwitch,
/// flows to the switch and from it prove most cuts, so that the class computes only two long flows.
class HubFlows {
 public:
  HubFlows(const RouteTable& table, FlowNetwork& network, std::uint32_t hub, std::int64_t enough)
      : network_(network), hub_(hub) {
    if (table.switches().size() != 1) return;
    between_ = network.At(table.switches().front());
    to_between_ = network.Flow(hub_, between_, enough);
    from_between_ = network.Flow(between_, hub_, enough);
  }

  /// \param enough  at most `enough` of the constructor
  std::int64_t To(std::uint32_t node, std::int64_t enough) {
    if (to_between_ >= enough && network_.Flow(between_, node, enough) >= enough) return enough;
    return network_.Flow(hub_, node, enough);
  }
  std::int64_t From(std::uint32_t node, std::int64_t enough) {
    if (from_between_ >= enough && network_.Flow(node, between_, enough) >= enough) return enough;
    return network_.Flow(node, hub_, enough);
  }

 private:
  FlowNetwork& network_;
  std::uint32_t hub_;
  std::uint32_t between_ = 0;
  std::int64_t to_between_ = -1, from_between_ = -1;  // -1: the system lacks such a node
};

std::int64_t RingBound(const RouteTable& table, FlowNetwork& network, bool multi_node,
                       std::int64_t bound) {
  const Graph& graph = table.paths().graph();
  const auto devices = table.devices();
  HubFlows flows(table, network,
                 multi_node ? network.outside() : network.At(HardwareOf(graph, devices.front())),
                 bound);
  for (const NodeIndex device : devices.subspan(multi_node ? 0 : 1)) {
    const std::uint32_t node = network.At(HardwareOf(graph, device));
    bound = flows.To(node, bound);
    bound = flows.From(node, bound);
  }
  return bound;
}

std::int64_t TreeBound(const RouteTable& table, FlowNetwork& network, bool multi_node,
                       std::int64_t bound) {
  const auto devices = table.devices();
  const Graph& graph = table.paths().graph();
  std::int64_t out = 0, count = 0;
  std::optional<NodeIndex> last;
  for (const NodeIndex device : devices) {
    const NodeIndex hardware = HardwareOf(graph, device);
    if (hardware == last) continue;  // several ranks of one device
    last = hardware;
    ++count;
    out += network.OutOf(hardware, graph);
  }
  if (count > 1 && !multi_node) bound = std::min(bound, out / (count - 1));
  HubFlows flows(table, network,
                 multi_node ? network.outside() : network.At(HardwareOf(graph, devices.front())),
                 bound);
  for (std::size_t i = multi_node ? 0 : 1; i < devices.size(); ++i) {
    const std::uint32_t device = network.At(HardwareOf(graph, devices[i]));
    const std::int64_t to = flows.To(device, bound);
    if (multi_node)
      bound = to;
    else if (to < bound)
      bound = std::min(bound, to + flows.From(device, bound));
  }
  return bound;
}

std::int64_t NicBound(const RouteTable& table) {
  std::int64_t bound = 0;
  for (std::uint32_t net = 0; net < table.net_count(); ++net) bound += table.NetMbPerS(net);
  return bound;
}

/// The bandwidth between a NIC and its nearest device, in the narrower direction.
std::int64_t ThroughNic(const RouteTable& table, std::uint32_t net) {
  std::int64_t most = 0;
  for (std::uint32_t device = 0; device < table.device_count(); ++device) {
    const EndIndex here{End::kDevice, device}, there{End::kNet, net};
    most = std::max<std::int64_t>(most, std::min(table.PathOf(here, there).bandwidth.mb_per_s,
                                                 table.PathOf(there, here).bandwidth.mb_per_s));
  }
  return std::min(most, table.NetMbPerS(net));
}

/// Each device can be a channel's head. On several hosts, channels use NICs, and some share a port.
std::int64_t NvlsBound(const RouteTable& table, bool multi_node) {
  const Graph& graph = table.paths().graph();
  const auto heads = static_cast<std::int64_t>(table.device_count());
  std::int64_t bound = kUnlimited;
  if (multi_node) {
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::int64_t> ports;
    for (std::uint32_t net = 0; net < table.net_count(); ++net) {
      const topology::NetFacts& facts = graph.net(table.nets()[net]);
      std::int64_t& port = ports[{facts.chip, facts.port}];
      port = std::max(port, ThroughNic(table, net));
    }
    bound = 0;
    for (const auto& [port, mb_per_s] : ports) bound += mb_per_s;
  }
  for (const NodeIndex device : table.devices())
    bound = std::min(bound, ToSwitch(graph, device) * heads / (heads + 1));
  return bound;
}

}  // namespace

Bandwidth BoundOfLimits(const RouteTable& table, const Limits& limits, GraphId id,
                        bool multi_node) {
  std::int64_t bound = 0;
  if (id == GraphId::kNvls)
    bound = NvlsBound(table, multi_node);
  else if (id == GraphId::kCollnetDirect)
    bound = NicBound(table);
  else
    bound = limits.TotalBandwidthBound(kSearchChannelsMax, kUnlimited);
  return {static_cast<std::uint32_t>(bound)};
}

Bandwidth BoundOf(RouteTable& table, const Limits& limits, GraphId id, bool multi_node,
                  Bandwidth found) {
  const Bandwidth bound = BoundOfLimits(table, limits, id, multi_node);
  const bool chains = id != GraphId::kNvls && id != GraphId::kCollnetDirect;
  if (!chains || bound <= found) return bound;
  const std::optional<std::vector<bool>> used = UsedLinks(table, multi_node);
  if (!used) return bound;
  FlowNetwork network(table, *used);
  const std::int64_t flow = id == GraphId::kRing
                                ? RingBound(table, network, multi_node, bound.mb_per_s)
                                : TreeBound(table, network, multi_node, bound.mb_per_s);
  if (flow >= bound.mb_per_s) return bound;
  return {static_cast<std::uint32_t>(limits.TotalBandwidthBound(kSearchChannelsMax, flow))};
}

}  // namespace ringlet::plan
