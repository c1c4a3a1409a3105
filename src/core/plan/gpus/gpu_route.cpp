#include "plan/gpus/gpu_route.hpp"

#include <fmt/format.h>

#include "topology/paths/locality.hpp"

namespace ringlet::plan {
namespace {

using topology::NodeIndex;
using topology::NodeKind;
using topology::PathType;

/// A rank, with its GPU in the paths of its node.
struct GpuPlace {
  std::uint32_t node = 0;
  std::uint32_t local = 0;
  const GpuSystem& system;
  NodeIndex gpu{};
};

GpuPlace PlaceOn(const GpuPlan& plan, Rank rank) {
  const NodePlace place = plan.channels().PlaceOf(rank);
  const GpuSystem& system = plan.systems[plan.nodes[place.node].system];
  return {place.node, place.local, system, system.gpus[place.local]};
}

/// The NIC that a GPU prefers. Null if the node lacks NICs.
std::optional<NodeIndex> PreferredNet(const topology::Paths& paths, NodeIndex gpu,
                                      std::uint32_t channel) {
  const topology::NearNets near = topology::NearNetsOf(paths, gpu, {});
  return near.nets.empty() ? std::nullopt : std::optional(near.For(channel));
}

/// A route out of a node: through a NIC, and possibly through another GPU.
struct NodeExit {
  std::optional<NodeIndex> net = {};
  NodeIndex relay{};
};

/// Stays on the receiver's rail if possible: uses the NIC of the GPU with the receiver's number if
/// the sender reaches that GPU over NVLink.
NodeExit WayOfMessage(const GpuPlace& from, const GpuPlace& to, std::uint32_t channel) {
  const topology::Paths& paths = from.system.paths;
  const topology::Graph& graph = paths.graph();
  const topology::Graph& theirs = to.system.paths.graph();
  const std::uint32_t number = theirs.at(theirs.gpu(to.gpu).device).number;
  for (const NodeIndex gpu : paths.Of(NodeKind::kGpu)) {
    if (graph.at(graph.gpu(gpu).device).number != number) continue;
    const auto net = PreferredNet(paths, gpu, channel);
    const bool near = net && paths.From(gpu, *net).type <= PathType::kP2c && graph.gpu(gpu).gdr;
    const bool joined = gpu == from.gpu || paths.From(gpu, from.gpu).type <= PathType::kNvl;
    if (near && joined) return {net, gpu};
  }
  return {PreferredNet(paths, from.gpu, channel), from.gpu};
}

/// The NIC where a channel enters or leaves at this GPU.
/// \param base  number of base channels of the plan, which repeat; that of the narrowest node
std::optional<NodeIndex> ChannelNet(const GpuPlace& place, std::uint32_t channel, std::size_t base,
                                    TransferPurpose carriage) {
  const PatternGraph& graph = place.system.planned.plan.of(
      carriage == TransferPurpose::kRing ? GraphId::kRing : GraphId::kTree);
  if (graph.channels.empty()) return std::nullopt;
  const LocalChannel& its = graph.channels[channel % base];
  const bool first = its.devices.front() == place.system.DeviceOf(place.local);
  const auto net = first ? its.entry : its.exit;
  return net ? std::optional(place.system.paths.Of(NodeKind::kNet)[*net]) : std::nullopt;
}

void Append(GpuRoute& route, std::uint32_t node, const std::vector<topology::Hop>& hops) {
  for (const topology::Hop& hop : hops) {
    if (hop.kind == topology::LinkKind::kLocal) continue;
    route.hops.push_back(hop);
    route.links.push_back({node, hop.from, hop.to});
  }
}

}  // namespace

GpuRoute RouteOf(const GpuPlan& plan, Rank from, Rank to, std::uint32_t channel,
                 TransferPurpose carriage) {
  GpuRoute route;
  const GpuPlace sender = PlaceOn(plan, from), receiver = PlaceOn(plan, to);
  if (sender.node == receiver.node) {
    const topology::Paths& paths = sender.system.paths;
    Append(route, sender.node, paths.Route(sender.gpu, receiver.gpu));
    route.type = paths.From(sender.gpu, receiver.gpu).type;
    return route;
  }
  route.type = PathType::kNet;
  const topology::Paths& out = sender.system.paths;
  const topology::Paths& in = receiver.system.paths;
  const bool message = carriage == TransferPurpose::kMessage;
  const ChannelPlan::Options& made = plan.channels().options();
  const std::size_t base =
      carriage == TransferPurpose::kRing ? made.rings.size() : made.trees.size();
  const NodeExit way = message ? WayOfMessage(sender, receiver, channel)
                               : NodeExit{ChannelNet(sender, channel, base, carriage), sender.gpu};
  route.exit = way.net;
  route.entry = message ? PreferredNet(in, receiver.gpu, channel)
                        : ChannelNet(receiver, channel, base, carriage);
  if (way.relay != sender.gpu) Append(route, sender.node, out.Route(sender.gpu, way.relay));
  if (route.exit) Append(route, sender.node, out.Route(way.relay, *route.exit));
  if (route.entry) Append(route, receiver.node, in.Route(*route.entry, receiver.gpu));
  return route;
}

std::string ToText(const GpuPlan& plan, const HardwareLink& link) {
  const GpuSystem& system = plan.systems[plan.nodes[link.node].system];
  const topology::Graph& graph = *system.graph;
  for (const topology::Link& one : graph.at(link.from).links)
    if (one.to == link.to)
      return fmt::format("node {}: {} to {}, {} {} MB/s", link.node,
                         topology::NcclName(graph, link.from), topology::NcclName(graph, link.to),
                         topology::NameOf(one.kind), one.bandwidth.mb_per_s);
  return fmt::format("node {}: no such link", link.node);
}

}  // namespace ringlet::plan
