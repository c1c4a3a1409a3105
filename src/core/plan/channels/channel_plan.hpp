// The result of planning: the order of the ranks in each ring and tree, and the bandwidth of each.
//
// Nodes with equal orders share one NodeShape, which numbers the ranks of a node from 0. A plan
// stores the shapes, and the shape and the ranks of each node. A plan for 12,500 nodes of 8 ranks
// takes a few hundred bytes. At() computes a rank's neighbours on request, Ring() a whole ring.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/value/bytes.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"
#include "topology/graph/bandwidth.hpp"

namespace ringlet::plan {

inline constexpr std::size_t kChannelsMax = 64;  // NCCL's MAXCHANNELS

/// A tree within a node. Position 0 is the top.
struct LocalTree {
  std::vector<std::uint32_t> order;  ///< local numbers by position, each number once
  /// The parent's position for each position after the top, always a lower one. Empty: a chain.
  std::vector<std::uint32_t> above = {};
  /// The positions that pass data to the node's two children in the tree over nodes. The top
  /// exchanges data with the node's parent.
  std::uint32_t to_children[2] = {0, 0};
  bool operator==(const LocalTree&) const = default;
};

/// The local numbers of the ranks of a NUMA node, ascending. The first rank leads the group.
using LocalGroup = std::vector<std::uint32_t>;

/// The orders that equal nodes share, in local numbers. Local number 0 is a node's lowest rank.
struct NodeShape {
  std::uint32_t ranks = 0;
  std::vector<std::vector<std::uint32_t>> rings;  ///< by base ring; each contains every number once
  std::vector<LocalTree> trees;                   ///< by base tree
  std::vector<LocalGroup> groups = {};            ///< together they contain every number once
  std::uint32_t leader = 0;                       ///< the rank nearest to the network
  bool operator==(const NodeShape&) const = default;
};

/// The bandwidth of a channel in one direction.
struct ChannelSpeed {
  topology::Bandwidth ring;
  topology::Bandwidth tree;
  bool operator==(const ChannelSpeed&) const = default;
};

/// The number of channels of collectives over rings, and of collectives over trees.
struct ChannelCounts {
  std::uint32_t rings = 1, trees = 1;
  bool operator==(const ChannelCounts&) const = default;
};

/// The peers of a rank on one channel.
struct Neighbours {
  static constexpr std::size_t kDownMax = 6;  // 2 of its NUMA node, 2 of its host, 2 of other hosts
  Rank previous{}, next{};                    ///< in the ring; the rank itself if it is alone
  std::optional<Rank> up = {};                ///< in the tree; null at the root
  std::array<std::optional<Rank>, kDownMax> down{};  ///< filled from the front
  bool operator==(const Neighbours&) const = default;
};

/// A node of the communicator and a rank's local number in it.
struct NodePlace {
  std::uint32_t node = 0;
  std::uint32_t local = 0;
  bool operator==(const NodePlace&) const = default;
};

class ChannelPlan {
 public:
  struct Options {
    /// Bandwidths of the base rings and the base trees, 1 to kChannelsMax each. Sizes may differ.
    std::vector<topology::Bandwidth> rings, trees;
    /// Number of channels of collectives over rings, and over trees: 1 to kChannelsMax. Channels
    /// beyond the base rings repeat them in order. Base rings beyond the channels stay unused.
    std::uint32_t ring_channels = 1, tree_channels = 1;
    /// Number of consecutive channels on the same tree over nodes. The two trees alternate.
    std::uint32_t channels_of_a_tree = 1;
    /// Odd nodes exchange the rings of channels 2k and 2k + 1, so that data leaves one node and
    /// enters the next by NICs of the same number. Requires an even number of base rings.
    bool exchange = false;
    bool operator==(const Options&) const = default;
  };

  ChannelPlan() = default;
  ChannelPlan(Options options, std::vector<NodeShape> shapes);

  /// Appends a node. Callers add nodes in the order of their lowest rank. Consecutive ranks take no
  /// memory.
  /// \param ranks  ascending, as many as the shape has
  void AddNode(std::uint32_t shape, std::span<const Rank> ranks);
  /// Appends `nodes` nodes of one shape with consecutive ranks, starting with `first`.
  void AddNodes(std::uint32_t shape, std::uint32_t nodes, Rank first);
  /// Completes the plan. Call it after the last node and before any query.
  void Finish();

  std::uint32_t rank_count() const { return rank_count_; }
  std::uint32_t node_count() const { return node_count_; }
  /// The first `rings` channels carry collectives over rings, the first `trees` those over trees.
  ChannelCounts counts() const { return {options_.ring_channels, options_.tree_channels}; }
  std::uint32_t channel_count() const { return std::max(counts().rings, counts().trees); }
  const Options& options() const { return options_; }
  std::span<const NodeShape> shapes() const { return shapes_; }
  ChannelSpeed speed(std::uint32_t channel) const {
    return {options_.rings[BaseRing(channel)], options_.trees[BaseTree(channel)]};
  }
  /// Sum over the base rings in use.
  topology::Bandwidth ring_bandwidth() const;

  const NodeShape& ShapeOf(std::uint32_t node) const { return shapes_[RunOf(node).shape]; }
  Rank RankAt(NodePlace place) const;
  /// \pre the rank is in the plan; O(log runs)
  NodePlace PlaceOf(Rank rank) const;
  std::vector<Rank> RanksOf(std::uint32_t node) const;

  /// \pre rank and channel are in the plan
  /// Cost  O(ranks of a node + log nodes)
  Neighbours At(Rank rank, std::uint32_t channel) const;
  /// Every rank once, starting with node 0. The last rank passes data to the first.
  std::vector<Rank> Ring(std::uint32_t channel) const;
  /// The neighbours of a rank in all rings, each once, ascending.
  std::vector<Rank> RingNeighboursOf(Rank rank) const;

  /// Equal for equal plans on every machine. Ranks compare these 8 bytes instead of plans.
  std::uint64_t digest() const;
  /// Memory in use, in bytes.
  std::size_t bytes() const;

  /// Checks that every ring and tree visits each of the ranks 0 to n-1 once.
  /// Errors  kInvalidArgument  names the first channel or shape that fails
  Status Check() const;

  bool operator==(const ChannelPlan&) const = default;

 private:
  // Adjacent nodes of one shape. Their ranks are consecutive, or stand in listed_.
  struct Run {
    std::uint32_t shape = 0;
    std::uint32_t first_node = 0;
    std::uint32_t nodes = 0;
    std::uint32_t first = 0;  // the first rank, or its index in listed_
    bool listed = false;
    bool operator==(const Run&) const = default;
  };
  struct Found {
    std::uint32_t rank, node, local;
    bool operator==(const Found&) const = default;
  };

  std::uint32_t BaseRing(std::uint32_t channel) const {
    return channel % static_cast<std::uint32_t>(options_.rings.size());
  }
  std::uint32_t BaseTree(std::uint32_t channel) const {
    return channel % static_cast<std::uint32_t>(options_.trees.size());
  }
  const std::vector<std::uint32_t>& RingOf(std::uint32_t node, std::uint32_t channel) const;
  const LocalTree& TreeOf(std::uint32_t node, std::uint32_t channel) const;
  std::uint32_t OverNodes(std::uint32_t channel) const;
  void AddTree(Neighbours& result, NodePlace place, std::uint32_t channel) const;
  std::optional<Rank> ParentIn(std::uint32_t node, std::uint32_t position,
                               std::uint32_t channel) const;
  const Run& RunOf(std::uint32_t node) const;
  Status CheckShape(const NodeShape& shape) const;

  Options options_;
  std::vector<NodeShape> shapes_;
  std::vector<Run> runs_;
  std::vector<Rank> listed_;
  std::vector<Found> found_;  // one entry per listed rank, ascending
  std::uint32_t node_count_ = 0;
  std::uint32_t rank_count_ = 0;
};

/// The leaders and the local ranks that collectives within a rank's host need.
struct Leaders {
  Rank host{};                            ///< the rank nearest to the network
  std::vector<Rank> ranks;                ///< all ranks of the host, ascending
  std::vector<std::vector<Rank>> groups;  ///< by NUMA node in use; the first rank leads
  bool operator==(const Leaders&) const = default;
};
/// \pre the rank is in the plan
Leaders LeadersOf(const ChannelPlan& plan, Rank rank);

/// One line per channel: "channel 0: 17000 MB/s, ring 0 1 2 3".
/// Cost  O(channels * ranks)
std::string ToText(const ChannelPlan& plan);

}  // namespace ringlet::plan
