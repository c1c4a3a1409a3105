// The decisions of planning: the orders in which ranks pass data on, and their speed.
//
// Nodes that are built alike have one shape: the orders within it, in numbers of its own ranks. A
// plan is the shapes, and which node has which and holds which ranks. So 12,500 nodes of 8 ranks
// are a few hundred bytes, and what a rank needs to know - whom it receives from and sends to - is
// worked out when it asks. Rings and trees of all ranks can be written out from the same.
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

/// A tree within a node. Positions count from the top.
struct LocalTree {
  std::vector<std::uint32_t> order;  ///< local numbers by position, each once
  /// The position above each but the top, always a lower one; empty: a chain.
  std::vector<std::uint32_t> above = {};
  /// The positions that hand data to the node's two children in a tree over nodes; the top talks to
  /// the parent.
  std::uint32_t to_children[2] = {0, 0};
  bool operator==(const LocalTree&) const = default;
};

/// The ranks of a NUMA node, in local numbers, ascending; the first leads.
using LocalGroup = std::vector<std::uint32_t>;

/// How all nodes of one kind pass data on, in local numbers: 0 for a node's lowest rank.
struct NodeShape {
  std::uint32_t ranks = 0;
  std::vector<std::vector<std::uint32_t>> rings;  ///< for each base ring: each number once
  std::vector<LocalTree> trees;                   ///< for each base tree
  std::vector<LocalGroup> groups = {};            ///< each number once
  std::uint32_t leader = 0;                       ///< the rank nearest to the network
  bool operator==(const NodeShape&) const = default;
};

/// How fast a channel is, one direction.
struct ChannelSpeed {
  topology::Bandwidth ring;
  topology::Bandwidth tree;
  bool operator==(const ChannelSpeed&) const = default;
};

/// How many channels collectives over rings have, and those over trees.
struct ChannelCounts {
  std::uint32_t rings = 1, trees = 1;
  bool operator==(const ChannelCounts&) const = default;
};

/// The ranks that a rank exchanges data with on one channel.
struct Neighbours {
  static constexpr std::size_t kDownMax = 6;  // 2 of its NUMA node, 2 of its host, 2 of other hosts
  Rank previous{}, next{};                    ///< in the ring; itself where it is alone
  std::optional<Rank> up = {};                ///< in the tree; nothing at the root
  std::array<std::optional<Rank>, kDownMax> down{};  ///< filled from the front
  bool operator==(const Neighbours&) const = default;
};

/// A node of the communicator and a rank's number in it.
struct NodePlace {
  std::uint32_t node = 0;
  std::uint32_t local = 0;
  bool operator==(const NodePlace&) const = default;
};

class ChannelPlan {
 public:
  struct Options {
    /// The bandwidth of each base ring and of each base tree: 1 to kChannelsMax of both. There may
    /// be more rings than trees, or fewer.
    std::vector<topology::Bandwidth> rings, trees;
    /// The channels of collectives over rings, the base rings over and over: 1 to kChannelsMax. If
    /// there are fewer than base rings, the rest is not used. The same of trees.
    std::uint32_t ring_channels = 1, tree_channels = 1;
    /// So many channels use the first tree over nodes, as many the second, and so on.
    std::uint32_t channels_of_a_tree = 1;
    /// Odd nodes exchange the rings of channels 2k and 2k + 1, so that what leaves one node by a
    /// NIC enters the next by its NIC of the same number. Base rings are then even.
    bool exchange = false;
    bool operator==(const Options&) const = default;
  };

  ChannelPlan() = default;
  ChannelPlan(Options options, std::vector<NodeShape> shapes);

  /// Appends a node. Nodes come in the order of their lowest rank; consecutive ranks cost nothing.
  /// \param ranks  as many as the shape has, ascending
  void AddNode(std::uint32_t shape, std::span<const Rank> ranks);
  /// The same for `nodes` nodes of one shape, with consecutive ranks from `first` on.
  void AddNodes(std::uint32_t shape, std::uint32_t nodes, Rank first);
  /// After the last node, before any question.
  void Finish();

  std::uint32_t rank_count() const { return rank_count_; }
  std::uint32_t node_count() const { return node_count_; }
  /// Of both the first ones of all channels.
  ChannelCounts counts() const { return {options_.ring_channels, options_.tree_channels}; }
  std::uint32_t channel_count() const { return std::max(counts().rings, counts().trees); }
  const Options& options() const { return options_; }
  std::span<const NodeShape> shapes() const { return shapes_; }
  ChannelSpeed speed(std::uint32_t channel) const {
    return {options_.rings[BaseRing(channel)], options_.trees[BaseTree(channel)]};
  }
  /// Of all base rings together.
  topology::Bandwidth ring_bandwidth() const;

  const NodeShape& ShapeOf(std::uint32_t node) const { return shapes_[RunOf(node).shape]; }
  Rank RankAt(NodePlace place) const;
  /// \pre the rank is in the plan; O(log runs)
  NodePlace PlaceOf(Rank rank) const;
  std::vector<Rank> RanksOf(std::uint32_t node) const;

  /// \pre rank and channel are in the plan. Cost  O(ranks of a node + log nodes)
  Neighbours At(Rank rank, std::uint32_t channel) const;
  /// Every rank once, from node 0 on; the last passes on to the first.
  std::vector<Rank> Ring(std::uint32_t channel) const;
  /// Those next to a rank in the ring of any channel, each once, ascending.
  std::vector<Rank> RingNeighboursOf(Rank rank) const;

  /// Equal for equal plans, on every machine. Ranks compare these 8 bytes in place of plans.
  std::uint64_t digest() const;
  /// The bytes that it holds in memory.
  std::size_t bytes() const;

  /// Whether every ring and tree visits each of the ranks 0 to n-1 once.
  /// Errors  kInvalidArgument  names the first channel or shape that does not
  Status Check() const;

  bool operator==(const ChannelPlan&) const = default;

 private:
  // Neighbouring nodes of one shape, whose ranks are consecutive, or listed.
  struct Run {
    std::uint32_t shape = 0;
    std::uint32_t first_node = 0;
    std::uint32_t nodes = 0;
    std::uint32_t first = 0;  // the first rank, or where listed_ begins
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
  std::vector<Found> found_;  // of listed ranks, ascending
  std::uint32_t node_count_ = 0;
  std::uint32_t rank_count_ = 0;
};

/// The leader of a rank's host, and its local ranks: needed by a collective within a host.
struct Leaders {
  Rank host{};                            ///< nearest to the network
  std::vector<Rank> ranks;                ///< all of the host, ascending
  std::vector<std::vector<Rank>> groups;  ///< of each NUMA node that has any; the first leads
  bool operator==(const Leaders&) const = default;
};
/// \pre the plan has the rank
Leaders LeadersOf(const ChannelPlan& plan, Rank rank);

/// A line a channel: "channel 0: 17000 MB/s, ring 0 1 2 3"; O(channels * ranks).
std::string ToText(const ChannelPlan& plan);

}  // namespace ringlet::plan
