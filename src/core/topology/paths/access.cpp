#include "topology/paths/access.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

/// AMD's processors relay data between GPUs, but only between few of them.
PathType DefaultLevel(const Paths& paths) {
  constexpr std::size_t kFewDevices = 2;
  const std::vector<NodeIndex>& cpus = paths.Of(NodeKind::kCpu);
  const CpuModel& cpu = paths.graph().cpu(cpus.front());
  const bool amd = cpu.arch == "x86_64" && cpu.vendor == "AuthenticAMD";
  return amd && paths.Of(NodeKind::kDev).size() <= kFewDevices ? PathType::kSys : PathType::kPxb;
}

/// The middle GPU of a path GPU, device, device, device, GPU.
std::optional<NodeIndex> Between(const Paths& paths, NodeIndex from, NodeIndex to) {
  constexpr std::uint32_t kHops = 4;
  if (paths.From(from, to).hops != kHops) return std::nullopt;
  const NodeIndex middle = paths.Route(from, to)[1].to;
  if (paths.graph().at(middle).kind != NodeKind::kDev) return std::nullopt;
  for (const Link& link : paths.graph().at(middle).links)
    if (paths.graph().at(link.to).kind == NodeKind::kGpu) return link.to;
  return std::nullopt;
}

Error SeparatedGpusError(const Graph& graph, NodeIndex from, NodeIndex to) {
  return {
      Code::kInvalidArgument,
      fmt::format("ranks {} and {} of host {} are joined by NVLink, but the driver keeps their "
                  "GPUs apart: repair that, or set NCCL_IGNORE_DISABLED_P2P=1 to run without it",
                  graph.at(from).number, graph.at(to).number,
                  Quoted(graph.hosts()[graph.at(from).host].name))};
}

/// Returns true if the GPUs are in one NVLink domain, or a domain is unknown.
bool SameDomain(const Graph& graph, NodeIndex from, NodeIndex to) {
  const std::optional<NvlinkFabric>& a = graph.gpu(from).fabric;
  const std::optional<NvlinkFabric>& b = graph.gpu(to).fabric;
  if (!a || !b) return true;  // the graph already joins their hosts
  return *a == *b;
}

/// The bandwidth of the widest path to a NIC without a processor. 0 if no such path exists.
Bandwidth WidestToNet(const Paths& paths, NodeIndex gpu) {
  Bandwidth widest;
  for (const NodeIndex net : paths.Of(NodeKind::kNet)) {
    const Path path = paths.From(gpu, net);
    if (path.type <= PathType::kPxb) widest = std::max(widest, path.bandwidth);
  }
  return widest;
}

}  // namespace

Access::Access(const Paths& paths, const PathOptions& options) : paths_(paths), options_(options) {
  for (const NodeIndex gpu : paths.Of(NodeKind::kGpu))
    widest_to_net_.emplace(gpu, WidestToNet(paths, gpu));
}

bool Access::SharedMemory(NodeIndex from, NodeIndex to) const {
  const Node& a = paths_.graph().at(from);
  const Node& b = paths_.graph().at(to);
  return a.host == b.host &&
         (!options_.shared_memory || options_.shared_memory(Rank{a.number}, Rank{b.number}));
}

/// Returns true if the driver grants access on each step from GPU to GPU.
bool Access::DriverGrants(NodeIndex from, NodeIndex to, std::optional<NodeIndex> through) const {
  const Graph& graph = paths_.graph();
  const auto granted = [&](NodeIndex a, NodeIndex b) {
    return options_.peer_access(Rank{graph.at(a).number}, Rank{graph.at(b).number});
  };
  if (!through) return granted(from, to);
  return granted(from, *through) && granted(*through, to);
}

Result<PeerAccess> Access::Peer(NodeIndex from, NodeIndex to) const {
  const Graph& graph = paths_.graph();
  const bool same_host = graph.at(from).host == graph.at(to).host;
  if (same_host && !SharedMemory(from, to)) return PeerAccess{};
  if (!same_host && !SameDomain(graph, from, to)) return PeerAccess{};
  const Path path = paths_.From(from, to);
  PeerAccess access{false, Between(paths_, from, to)};
  access.allowed = path.type <= options_.p2p_level.value_or(DefaultLevel(paths_));
  const bool one_device = graph.gpu(from).device == graph.gpu(to).device;
  constexpr std::uint32_t kDoNotAsk = 2;
  if (!access.allowed || !same_host || one_device || !options_.peer_access ||
      options_.ignore_disabled_p2p == kDoNotAsk)
    return access;
  if (DriverGrants(from, to, access.through)) return access;
  if (path.type <= PathType::kNvb && options_.ignore_disabled_p2p == 0)
    return SeparatedGpusError(graph, from, to);
  return PeerAccess{};
}

bool Access::NetIsFaster(NodeIndex from, NodeIndex to) const {
  if (!options_.net_intra) return false;
  const Bandwidth direct = paths_.From(from, to).bandwidth;
  return widest_to_net_.at(from) > direct && widest_to_net_.at(to) > direct;
}

Result<bool> Access::CanConnect(NodeIndex from, NodeIndex to) const {
  RINGLET_TRY_ASSIGN(const PeerAccess access, Peer(from, to));
  if (access.allowed && access.through) return true;
  if (NetIsFaster(from, to)) return false;
  return access.allowed || (options_.shm && SharedMemory(from, to));
}

bool MayGpuDirect(const Paths& paths, const PathOptions& options, NodeIndex gpu, NodeIndex net,
                  NicDirection direction, std::optional<NodeIndex> relay) {
  const Graph& graph = paths.graph();
  const DeviceFacts& device = graph.device(graph.gpu(gpu).device);
  if (!graph.net(net).gdr || !graph.gpu(gpu).gdr) return false;
  if (device.half && !options.gdr_split) return false;
  if (direction == NicDirection::kSend) {
    if (options.gdr_read == false) return false;
    constexpr std::uint32_t kReadsWell = 80;
    const std::vector<NodeIndex>& gpus = paths.Of(NodeKind::kGpu);
    const auto joined = [&](NodeIndex other) {
      return other != gpu && paths.From(gpu, other).type == PathType::kNvl;
    };
    if (!options.gdr_read && device.compute_capability < kReadsWell && gpus.size() > 1 &&
        std::none_of(gpus.begin(), gpus.end(), joined))
      return false;
  }
  const PathType level =
      options.gdr_level.value_or(options.gdr_c2c ? PathType::kP2c : PathType::kPxb);
  const PathType type = paths.From(gpu, net).type;
  const bool relayed = type == PathType::kPxn && relay;
  return (relayed ? paths.From(*relay, net).type : type) <= level;
}

}  // namespace ringlet::topology
