// The plan of a communicator whose ranks are on GPUs, as NCCL makes one: GPUs that reach each other
// without the network are a node; each kind of node is searched once; then all are joined.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plan/channels/join.hpp"
#include "plan/channels/p2p_channels.hpp"
#include "plan/routes/search_options.hpp"
#include "plan/search/given_graphs.hpp"
#include "plan/tuning/tuning.hpp"
#include "topology/graph/port_rules.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::plan {

/// A kind of node: a host, a part of one, or several of one NVLink domain.
struct GpuSystem {
  std::unique_ptr<const topology::Graph> graph;  ///< where `paths` expects it
  topology::Paths paths;
  NodeClass planned;
  std::vector<topology::NodeIndex> gpus;  ///< by local number

  /// The paths' position of the GPU with a local number, as LocalChannel::devices has it.
  std::uint32_t DeviceOf(std::uint32_t local) const;
};

struct GpuNode {
  std::uint32_t system = 0;  ///< index in GpuPlan::systems
  std::vector<Rank> ranks;   ///< by local number, ascending
  /// Of each host of the system's graph, its index among the hosts that were given.
  std::vector<std::uint32_t> hosts;
};

struct GpuPlanOptions {
  SearchOptions search = {.policy = Policy::kCompat};  ///< but for `multi_node`
  ChannelLimits channels = {};
  topology::PortRules ports = {};
  topology::PathOptions paths = {};  ///< without peer_access: topology::KnownPeerAccess
  TuningChoice choice = {};
  GraphText given = {};  ///< NCCL_GRAPH_FILE
};

struct GpuPlan {
  std::vector<GpuSystem> systems;
  std::vector<GpuNode> nodes;  ///< as of the plan: in the order of their lowest rank
  JoinedPlan joined;
  Tuning tuning;
  P2pChannels messages;  ///< of sends and receives

  const ChannelPlan& channels() const { return joined.plan; }
};

/// \param hosts  Gpu::rank says which rank is on which GPU: every rank from 0 on once. GPUs without
///               one take no part
/// Errors  kInvalidArgument  a rank is on no GPU, or two are; no rank at all; as Build, Join and
///                           ReadGraphs. A graph file where nodes are of several kinds
///         kUnsupported      as FindPaths and SearchHost
/// Cost    the search of each kind of node, O(nodes * GPUs) beside it
Result<GpuPlan> PlanGpus(std::span<const topology::HostView> hosts, const GpuPlanOptions& options);

/// The local number of each GPU of `paths`, in their order: 0 for that of the lowest rank.
std::vector<std::uint32_t> LocalsOf(const topology::Paths& paths);
/// Of the GPUs of `paths`; times 10.
std::uint32_t LeastCapability(const topology::Paths& paths);

/// The model's input for such nodes.
TuningInput TuningInputFor(std::span<const topology::Paths* const> kinds, const JoinedPlan& joined,
                           TuningChoice choice);

/// How many channels the messages of such nodes take.
P2pChannels P2pChannelsFor(std::span<const topology::Paths* const> kinds, const ChannelPlan& plan);

}  // namespace ringlet::plan
