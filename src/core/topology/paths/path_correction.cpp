#include "topology/paths/path_correction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/paths/access.hpp"

namespace ringlet::topology {
namespace {

constexpr std::uint32_t kChannels = 64;  // NCCL's; a GPU's preferred NIC depends on the channel

/// The type of two consecutive paths. A package link and a PCIe root are closer than a processor.
PathType Joined(PathType a, PathType b) {
  const auto [low, high] = std::minmax(a, b);
  return low == PathType::kC2c && high == PathType::kPhb ? PathType::kP2c : high;
}

}  // namespace

/// Replaces the path from `from` to `to` by the path through `via`.
void PathCorrection::RouteThrough(NodeIndex from, NodeIndex via, NodeIndex to) {
  const Path first = paths_.From(from, via);
  const Path second = paths_.From(via, to);
  Paths::Record* record = paths_.Find(from, to);
  if (record == nullptr || first.type == PathType::kDis || second.type == PathType::kDis) return;
  const std::uint32_t hops = std::min(first.hops + second.hops, Paths::kHopsMax);
  record->mb_per_s = std::min(first.bandwidth, second.bandwidth).mb_per_s;
  record->type = static_cast<std::uint16_t>(Joined(first.type, second.type)) & 0xf;
  record->form = static_cast<std::uint16_t>(Paths::Form::kVia);
  record->hops = static_cast<std::uint16_t>(hops) & 0x3ff;
  record->next = static_cast<std::uint16_t>(paths_.Local(via));
}

void PathCorrection::LowerType(NodeIndex from, NodeIndex to, PathType type) {
  Paths::Record* record = paths_.Find(from, to);
  if (record == nullptr) return;
  record->type = std::min<std::uint16_t>(record->type, static_cast<std::uint16_t>(type)) & 0xf;
}

Status PathCorrection::CorrectPeers() {
  const Access access(paths_, options_);
  for (const NodeIndex to : paths_.Of(NodeKind::kGpu)) {
    for (const NodeIndex from : paths_.Of(NodeKind::kGpu)) {
      if (from == to) continue;
      RINGLET_TRY_ASSIGN(const PeerAccess peer, access.Peer(from, to));
      if (!peer.allowed && cpu_of_.contains(Index(to)))
        RouteThrough(from, cpu_of_.at(Index(to)), to);
      RINGLET_TRY_ASSIGN(const bool connected, access.CanConnect(from, to));
      if (connected) continue;
      if (Paths::Record* record = paths_.Find(from, to))
        record->type = static_cast<std::uint16_t>(PathType::kNet) & 0xf;
    }
  }
  return Ok();
}

/// Lowers the type between a GPU on a package link and a NIC on the same processor's PCIe root.
void PathCorrection::CorrectC2c() {
  for (const NodeIndex gpu : paths_.Of(NodeKind::kGpu)) {
    if (!cpu_of_.contains(Index(gpu))) continue;
    const NodeIndex cpu = cpu_of_.at(Index(gpu));
    const PathType to_cpu = paths_.From(gpu, cpu).type;
    for (const NodeIndex net : NearestOf(paths_, gpu, NodeKind::kNet)) {
      const PathType net_to_cpu = paths_.From(net, cpu).type;
      const bool one_package = (to_cpu == PathType::kC2c && net_to_cpu == PathType::kPhb) ||
                               (to_cpu == PathType::kPhb && net_to_cpu == PathType::kC2c);
      if (!one_package) continue;
      LowerType(gpu, net, PathType::kP2c);
      LowerType(net, gpu, PathType::kP2c);
    }
  }
}

const NearNets& PathCorrection::NearNetsOfGpu(NodeIndex gpu) {
  const auto known = near_nets_.find(Index(gpu));
  if (known != near_nets_.end()) return known->second;
  steps_ += paths_.Of(NodeKind::kNet).size() + paths_.Of(NodeKind::kGpu).size();
  return near_nets_.emplace(Index(gpu), NearNetsOf(paths_, gpu, options_.net_policy)).first->second;
}

Result<std::optional<NodeIndex>> PathCorrection::FindLocalGpu(NodeIndex net) {
  const std::vector<NodeIndex> gpus = NearestOf(paths_, net, NodeKind::kGpu);
  steps_ += paths_.Of(NodeKind::kGpu).size();
  for (std::uint32_t channel = 0; channel < kChannels; ++channel) {
    steps_ += gpus.size();
    for (const NodeIndex gpu : gpus) {
      if (steps_ > Paths::kStepsMax)
        return Error{Code::kUnsupported,
                     fmt::format("{} GPUs near {} NICs are too many to assign", gpus.size(),
                                 paths_.Of(NodeKind::kNet).size())};
      const NearNets& near = NearNetsOfGpu(gpu);
      if (!near.nets.empty() && near.For(channel) == net) return std::optional(gpu);
    }
  }
  return std::optional<NodeIndex>();
}

/// PXN: sends data of `gpu` for `net` over NVLink to the GPU near the NIC, if that is better.
void PathCorrection::HandOver(NodeIndex net, NodeIndex gpu, NodeIndex relay) {
  const Graph& graph = paths_.graph();
  if (relay == gpu || !MayGpuDirect(paths_, options_, relay, net, NicDirection::kSend)) return;
  const Path out = paths_.From(relay, net);
  const Path own = paths_.From(gpu, net);
  if (out.type > (options_.pxn_c2c ? PathType::kP2c : PathType::kPxb)) return;
  if (paths_.From(relay, gpu).type > PathType::kNvl) return;
  if (graph.at(relay).host != graph.at(gpu).host) return;
  if (out.bandwidth <= own.bandwidth && own.type <= PathType::kPxn) return;
  RouteThrough(gpu, relay, net);
  if (Paths::Record* record = paths_.Find(gpu, net))
    record->type = static_cast<std::uint16_t>(PathType::kPxn) & 0xf;
}

void PathCorrection::CorrectNet(NodeIndex net, std::optional<NodeIndex> relay) {
  for (const NodeIndex gpu : paths_.Of(NodeKind::kGpu)) {
    const Path before = paths_.From(gpu, net);
    if (relay) HandOver(net, gpu, *relay);
    const bool past_cpu = paths_.From(gpu, net).type < PathType::kPhb &&
                          !MayGpuDirect(paths_, options_, gpu, net, NicDirection::kReceive, relay);
    if (past_cpu && cpu_of_.contains(Index(gpu))) {
      RouteThrough(gpu, cpu_of_.at(Index(gpu)), net);
      RouteThrough(net, cpu_of_.at(Index(gpu)), gpu);
      near_nets_.clear();  // the number of GPUs near a NIC changed, for all GPUs
    }
    if (paths_.From(gpu, net) != before) near_nets_.erase(Index(gpu));
  }
}

Status PathCorrection::CorrectNets() {
  for (const NodeIndex net : paths_.Of(NodeKind::kNet)) {
    std::optional<NodeIndex> relay;
    if (options_.pxn) {
      RINGLET_TRY_ASSIGN(relay, FindLocalGpu(net));
    }
    CorrectNet(net, relay);
  }
  return Ok();
}

Status PathCorrection::Run() {
  for (const NodeIndex gpu : paths_.Of(NodeKind::kGpu))
    if (const auto cpu = NearestCpu(paths_, gpu)) cpu_of_.emplace(Index(gpu), *cpu);
  if (!options_.as_wired) {
    RINGLET_TRY(CorrectPeers());
    CorrectC2c();
    RINGLET_TRY(CorrectNets());
  }
  near_nets_.clear();
  for (const NodeIndex net : paths_.Of(NodeKind::kNet)) {
    RINGLET_TRY_ASSIGN(const std::optional<NodeIndex> gpu, FindLocalGpu(net));
    paths_.local_gpus_.push_back(gpu);
  }
  return Ok();
}

}  // namespace ringlet::topology
