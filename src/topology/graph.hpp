// All hosts of a communicator as one graph: what is there, and how fast it is joined.
//
// Hosts are not linked to each other: whatever leaves a host does so through a network interface,
// and every interface reaches every other. The graph never changes once built; capacity that a
// search uses up is kept in the search.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringlet/types.hpp"
#include "topology/bandwidth.hpp"
#include "topology/host_view.hpp"

namespace ringlet::topology {

enum class NodeKind : std::uint8_t {
  kCpu,   ///< a NUMA node
  kNet,   ///< a network interface
  kRank,  ///< an endpoint in host memory
};

enum class LinkKind : std::uint8_t {
  kMemory,   ///< rank to its NUMA node
  kSocket,   ///< NUMA node to NUMA node of the same host
  kNetwork,  ///< network interface to the NUMA node of its slot
};

enum class NodeIndex : std::uint32_t {};
constexpr std::uint32_t Index(NodeIndex node) {
  return static_cast<std::uint32_t>(node);
}

struct Link {
  NodeIndex to{};
  LinkKind kind = LinkKind::kMemory;
  Bandwidth bandwidth;  ///< each way
};

struct Node {
  NodeKind kind = NodeKind::kCpu;
  std::uint32_t host = 0;    ///< index into Graph::hosts
  std::uint32_t number = 0;  ///< kCpu: id of the NUMA node; kNet: position; kRank: the rank
  std::string name;          ///< kNet: of the interface
  std::vector<Link> links;
};

/// The nodes of one host are neighbours: [first, end), NUMA nodes, then interfaces, then ranks.
struct HostNodes {
  std::string name;
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

/// Where a rank lives.
struct RankPlace {
  Rank rank{};
  std::uint32_t host = 0;  ///< index into the hosts given to Build
  std::uint32_t numa = 0;  ///< id of the NUMA node, as in NumaNode::id
};

class Graph {
 public:
  std::span<const HostNodes> hosts() const { return hosts_; }
  std::span<const Node> nodes() const { return nodes_; }
  const Node& at(NodeIndex node) const { return nodes_[Index(node)]; }
  const Node& at(Rank rank) const { return at(NodeOf(rank)); }
  NodeIndex NodeOf(Rank rank) const { return rank_nodes_[ringlet::Index(rank)]; }
  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(rank_nodes_.size()); }

  /// Whether what the comments above say holds, and every link has an equal one back.
  /// Errors  kInvalidArgument  names the first node for which it does not
  Status Check() const;

 private:
  friend class GraphBuilder;
  friend struct GraphTestPeer;
  std::vector<HostNodes> hosts_;
  std::vector<Node> nodes_;
  std::vector<NodeIndex> rank_nodes_;
};

/// Joins the views of all hosts and the places of all ranks.
///
/// \param hosts  one for each host; identities differ. A host without interfaces gets one,
/// "unknown",
///               of kUnknownNetSpeedMbitPerS, because it was reached somehow.
/// \param ranks  0 to n-1, each once, in any order.
/// Errors  kInvalidArgument  a view is bad, two hosts are the same, a rank is missing, placed
/// twice,
///                           or placed where nothing is; the sentence names host or rank
/// Cost    O(ranks + hosts * (NUMA nodes)^2)
Result<Graph> Build(std::span<const HostView> hosts, std::span<const RankPlace> ranks);

inline constexpr std::size_t kGraphHostsMax = std::size_t{1} << 20;
inline constexpr std::size_t kGraphRanksMax = std::size_t{1} << 24;

/// One line a node, one line a link; for people and goldens.
std::string ToText(const Graph& graph);

}  // namespace ringlet::topology
