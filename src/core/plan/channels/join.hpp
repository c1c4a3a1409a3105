// Joins the plans of hosts into rings and trees over all hosts.
//
// Each class of hosts has one plan. The caller lists the class and the ranks of each node. The
// rules are NCCL 2.30's, so that equal plans of hosts give equal rings and trees. Unlike NCCL, the
// result records the class that limits the others.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/channels/channel_plan.hpp"
#include "plan/channels/pattern_graph.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::plan {

/// Adjacent nodes of one class with consecutive ranks, starting with `first`.
struct NodeBlock {
  std::uint32_t node_class = 0;
  std::uint32_t nodes = 1;
  Rank first{};
};

/// Nodes with the same number of devices and the same plan.
struct NodeClass {
  HostPlan plan;
  /// Maps each device of the plan to its local number. Local number 0 is the node's lowest rank.
  /// Empty: device i has local number i.
  std::vector<std::uint32_t> locals = {};
  std::uint32_t compute_capability = 0;  ///< the lowest of its GPUs, times 10; 0: unknown
  /// The rail of each NIC, if NICs of different rails cannot reach each other. Empty: all NICs can.
  std::vector<std::uint32_t> rails = {};
};

/// The user's limits, NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS, and NCCL's own.
struct ChannelLimits {
  std::uint32_t min = 1;
  std::uint32_t max = kChannelsMax;
  /// Rings and trees both get the smaller number of channels, as in NCCL.
  bool one_number = true;
};

/// The values that all nodes support.
struct Common {
  Pattern pattern = Pattern::kRing;
  std::uint32_t channels = 0;  ///< of a node's search; 0: a class lacks channels
  topology::Bandwidth intra = {}, inter = {};
  topology::PathType type_intra = topology::PathType::kLoc;
  topology::PathType type_inter = topology::PathType::kLoc;
  std::uint32_t latency_inter_ns = 0;
  std::uint8_t cross_nic = 0;
  bool same_channels = false;
  bool operator==(const Common&) const = default;
};

/// The reason why all nodes get less than some classes support.
struct Shortfall {
  GraphId graph = GraphId::kRing;
  std::string what;              ///< "channels", "MB/s of a channel between nodes"
  std::uint64_t least = 0;       ///< the value for all nodes
  std::uint64_t most = 0;        ///< the best value of any class
  std::uint32_t node_class = 0;  ///< the first class with the lowest value
  std::uint32_t first_node = 0;  ///< the first node of that class
  std::uint64_t nodes = 0;       ///< number of nodes of that class
};
/// "ring: all nodes get 2 channels instead of 12, because of node 3 (1 node like it)".
std::string ToText(const Shortfall& shortfall);

/// The devices at the head of NVLS channels. Every node has the same number of heads.
struct NvlsHeadCounts {
  std::uint32_t count = 0;
  std::uint32_t channels = 0;
};

struct JoinedPlan {
  ChannelPlan plan;
  std::array<Common, kGraphIds> common = {};
  std::vector<Shortfall> shortfalls;
  std::optional<NvlsHeadCounts> nvls;  ///< null if a node lacks NVLS

  const Common& of(GraphId id) const { return common[static_cast<std::size_t>(id)]; }
};

/// A node's tree in NCCL's form: a chain, where each rank passes data to the next one of `order`.
LocalTree ChainOf(std::vector<std::uint32_t> order, Pattern pattern);

/// Orders the rings and trees of each class so that as many channels as possible stay on the same
/// isolated rail in all classes. Classes match channels by position only.
void AlignRails(std::span<NodeClass> classes);

/// \param blocks  in the order of ranks; together they contain every rank from 0 on once
/// Errors  kInvalidArgument  no node, ranks that are not consecutive, a class without a ring,
///                           limits that leave no channel, or nodes with their first channels on
///                           different isolated rails; the message names node or class
/// Cost    O(classes * channels * devices + blocks), independent of nodes and ranks
Result<JoinedPlan> Join(std::span<const NodeClass> classes, std::span<const NodeBlock> blocks,
                        const ChannelLimits& limits);

}  // namespace ringlet::plan
