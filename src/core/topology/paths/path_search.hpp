// The best paths of a graph, before transports are considered.
#pragma once
#include <cstdint>
#include <vector>

#include "topology/paths/paths.hpp"

namespace ringlet::topology {

/// Fills records_ of a Paths: from every end of the system outwards, in NCCL's order, since the
/// first of equal paths stays.
///
/// A node takes a way that is of a lower type; or equally low and wider; or that, and shorter. It
/// keeps the links of that moment even if a node along them finds a better way later on, which the
/// better type may hide from it; such paths are listed link by link, the others share their tails.
class PathSearch {
 public:
  PathSearch(Paths& paths, bool nvb) : paths_(paths), graph_(*paths.graph_), nvb_(nvb) {}

  /// Errors  kUnsupported  a path of more than Paths::kHopsMax links
  Status Run();

 private:
  /// A path as a list that shares its tail.
  struct Cell {
    std::uint32_t node = 0;
    std::uint16_t link = 0;  ///< of the node
    std::uint32_t next = 0;  ///< cell of the rest; 0: arrived
  };
  struct State {
    Path path;
    std::uint32_t cell = 0;
    bool open = false;  ///< in the next round
  };

  void From(NodeIndex end);
  void Spread(NodeIndex node);
  bool MayPass(NodeIndex node, const Link& link) const;
  PathType TypeOver(NodeIndex node, const Link& link) const;
  Status Keep(NodeIndex end, std::uint32_t number);
  void List(NodeIndex node, NodeIndex end);

  Paths& paths_;
  const Graph& graph_;
  const bool nvb_;
  NodeIndex own_{};             // through which the end may be reached: its device, or itself
  std::uint32_t nvb_hops_ = 0;  // of a device whose NVLinks may still be passed
  std::vector<Cell> cells_;
  std::vector<State> states_;
  std::vector<NodeIndex> round_, next_round_;
};

}  // namespace ringlet::topology
