// Plans a communicator with ranks on GPUs, as NCCL does. GPUs that reach each other without the
// network form a node. Each kind of node is searched once, and Join() combines the nodes.
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

/// A kind of node: a host, a part of a host, or several hosts of one NVLink domain.
struct GpuSystem {
  std::unique_ptr<const topology::Graph> graph;  ///< `paths` points to it
  topology::Paths paths;
  NodeClass planned;
  std::vector<topology::NodeIndex> gpus;  ///< by local number

  /// The position in `paths` of the GPU with a local number. LocalChannel::devices uses it.
  std::uint32_t DeviceOf(std::uint32_t local) const;
};

struct GpuNode {
  std::uint32_t system = 0;  ///< index in GpuPlan::systems
  std::vector<Rank> ranks;   ///< by local number, ascending
  /// For each host of the system's graph, its index in PlanGpus's `hosts`.
  std::vector<std::uint32_t> hosts;
};

struct GpuPlanOptions {
  SearchOptions search = {.policy = Policy::kCompat};  ///< `multi_node` is ignored
  ChannelLimits channels = {};
  topology::PortRules ports = {};
  topology::PathOptions paths = {};  ///< default for peer_access: topology::KnownPeerAccess
  TuningChoice choice = {};
  GraphText given = {};  ///< NCCL_GRAPH_FILE
};

struct GpuPlan {
  std::vector<GpuSystem> systems;
  std::vector<GpuNode> nodes;  ///< in the order of the plan: by lowest rank
  JoinedPlan joined;
  Tuning tuning;
  P2pChannels messages;  ///< channels of sends and receives

  const ChannelPlan& channels() const { return joined.plan; }
};

/// \param hosts  Gpu::rank assigns ranks to GPUs, every rank from 0 on once; GPUs without a rank
///               are not used
/// Errors  kInvalidArgument  a rank without a GPU or with two, or no rank; a graph file and several
///                           kinds of nodes; as Build, Join and ReadGraphs
///         kUnsupported      as FindPaths and SearchHost
/// Cost    one search per kind of node, plus O(nodes * GPUs)
Result<GpuPlan> PlanGpus(std::span<const topology::HostView> hosts, const GpuPlanOptions& options);

/// The local number of each GPU of `paths`, in their order. The GPU of the lowest rank is 0.
std::vector<std::uint32_t> LocalsOf(const topology::Paths& paths);
/// The lowest compute capability of the GPUs of `paths`, times 10.
std::uint32_t LeastCapability(const topology::Paths& paths);

/// The input of the time model for these kinds of nodes.
TuningInput TuningInputFor(std::span<const topology::Paths* const> kinds, const JoinedPlan& joined,
                           TuningChoice choice);

/// The number of channels for messages between these kinds of nodes.
P2pChannels P2pChannelsFor(std::span<const topology::Paths* const> kinds, const ChannelPlan& plan);

}  // namespace ringlet::plan
