// Joins what was planned within hosts into rings and trees over all of them.
//
// Each class of hosts is planned once; here it is only said which node is of which class, and which
// ranks it has. The rules are NCCL 2.30's, so that equal plans within hosts give equal rings and
// trees; NCCL does not keep which class forced all others to less.
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

/// Nodes of one class, one behind the other, with consecutive ranks from `first` on.
struct NodeBlock {
  std::uint32_t node_class = 0;
  std::uint32_t nodes = 1;
  Rank first{};
};

/// One class of nodes: those with one number of devices and one plan.
struct NodeClass {
  HostPlan plan;
  /// Of each device of the plan the local number, 0 for the node's lowest rank. Empty: the same.
  std::vector<std::uint32_t> locals = {};
  std::uint32_t compute_capability = 0;  ///< the lowest, times 10; 0: unknown
  /// The rail of each NIC of the plan, where NICs reach only those of their own rail. Empty: every
  /// NIC reaches all others.
  std::vector<std::uint32_t> rails = {};
};

/// The limits of the user, NCCL_MIN_NCHANNELS and NCCL_MAX_NCHANNELS, and NCCL's own.
struct ChannelLimits {
  std::uint32_t min = 1;
  std::uint32_t max = kChannelsMax;
  /// Rings and trees have one number of channels, the smaller one, as NCCL's have.
  bool one_number = true;
};

/// The least that all nodes can do.
struct Common {
  Pattern pattern = Pattern::kRing;
  std::uint32_t channels = 0;  ///< of one node's search; 0: not all nodes have any
  topology::Bandwidth intra = {}, inter = {};
  topology::PathType type_intra = topology::PathType::kLoc;
  topology::PathType type_inter = topology::PathType::kLoc;
  std::uint32_t latency_inter_ns = 0;
  std::uint8_t cross_nic = 0;
  bool same_channels = false;
  bool operator==(const Common&) const = default;
};

/// The reason why all nodes get less than some could have.
struct Shortfall {
  GraphId graph = GraphId::kRing;
  std::string what;              ///< "channels", "MB/s of a channel between nodes"
  std::uint64_t least = 0;       ///< the share of all
  std::uint64_t most = 0;        ///< the offer of another class
  std::uint32_t node_class = 0;  ///< the class that forces it: the first such one
  std::uint32_t first_node = 0;  ///< and its first node
  std::uint64_t nodes = 0;       ///< how many nodes of that class there are
};
/// "ring: all get 2 channels instead of 12, because of node 3 (1 node like it)".
std::string ToText(const Shortfall& shortfall);

/// Devices that head the channels of NVLS; the same number on every node.
struct Heads {
  std::uint32_t count = 0;
  std::uint32_t channels = 0;
};

struct JoinedPlan {
  ChannelPlan plan;
  std::array<Common, kGraphIds> common = {};
  std::vector<Shortfall> shortfalls;
  std::optional<Heads> nvls;  ///< where all nodes have it

  const Common& of(GraphId id) const { return common[static_cast<std::size_t>(id)]; }
};

/// A tree within a node as NCCL's patterns have it: each rank passes on to the next of `order`.
LocalTree ChainOf(std::vector<std::uint32_t> order, Pattern pattern);

/// Orders the rings and trees of each class such that as many as possible are on the same isolated
/// rail in all classes. The classes agree on which channel is which by the order alone.
void AlignRails(std::span<NodeClass> classes);

/// \param blocks  in order of ranks; every rank from 0 on once
/// Errors  kInvalidArgument  no node, ranks that do not follow one another, a class without a ring,
///                           limits that leave nothing, or nodes whose first channels are on
///                           different isolated rails; the sentence names node or class
/// Cost    O(classes * channels * devices + blocks): not of nodes or ranks
Result<JoinedPlan> Join(std::span<const NodeClass> classes, std::span<const NodeBlock> blocks,
                        const ChannelLimits& limits);

}  // namespace ringlet::plan
