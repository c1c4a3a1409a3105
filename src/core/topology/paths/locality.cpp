#include "topology/paths/locality.hpp"

#include <algorithm>
#include <bit>

namespace ringlet::topology {

std::uint32_t ReverseBits(std::uint32_t value, std::uint32_t count) {
  std::uint32_t reversed = 0;
  for (std::uint32_t bit = 1; bit < count; bit <<= 1) {
    reversed = reversed << 1 | (value & 1);
    value >>= 1;
  }
  return reversed;
}

std::vector<NodeIndex> NearestOf(const Paths& paths, NodeIndex node, NodeKind kind) {
  std::vector<NodeIndex> nearest;
  Path best;
  for (const NodeIndex candidate : paths.Of(kind)) {
    const Path path = paths.From(node, candidate);
    if (path.type == PathType::kDis) continue;
    const bool wider = path.bandwidth > best.bandwidth;
    if (wider || (path.bandwidth == best.bandwidth && path.type < best.type)) {
      nearest.clear();
      best = path;
    }
    if (path.bandwidth == best.bandwidth && path.type == best.type) nearest.push_back(candidate);
  }
  return nearest;
}

std::optional<NodeIndex> NearestCpu(const Paths& paths, NodeIndex gpu) {
  std::optional<NodeIndex> nearest;
  for (const NodeIndex cpu : NearestOf(paths, gpu, NodeKind::kCpu))
    if (!nearest || paths.From(gpu, cpu).hops < paths.From(gpu, *nearest).hops) nearest = cpu;
  return nearest;
}

NearNets NearNetsOf(const Paths& paths, NodeIndex gpu, const NetPolicy& policy) {
  NearNets near;
  near.nets = NearestOf(paths, gpu, NodeKind::kNet);
  if (near.nets.empty()) return near;
  const auto count = static_cast<std::uint32_t>(near.nets.size());
  const auto sharing =
      static_cast<std::uint32_t>(NearestOf(paths, near.nets.front(), NodeKind::kGpu).size());
  const std::uint32_t gpus = std::max(sharing, 1u);
  switch (policy.kind) {
    case NetPolicy::Kind::kAuto: near.per_gpu = (count + gpus - 1) / gpus; break;
    case NetPolicy::Kind::kAll: near.per_gpu = count; break;
    case NetPolicy::Kind::kMax: near.per_gpu = std::min(policy.max, count); break;
  }
  const Graph& graph = paths.graph();
  near.first = graph.at(graph.gpu(gpu).device).number % gpus;
  if (std::has_single_bit(count)) near.first = ReverseBits(near.first, count);
  return near;
}

}  // namespace ringlet::topology
