// Finds the best paths of a graph, without regard to transports.
#pragma once
#include <cstdint>
#include <vector>

#include "topology/paths/paths.hpp"

namespace ringlet::topology {

/// Fills records_ of a Paths: searches outwards from every end of the system. Follows NCCL's order,
/// because the first of equal paths wins.
///
/// A node accepts a path of a lower type, or of equal type and wider, or equally wide and shorter.
/// It keeps the links of that moment, even if a node on the path finds a better path later. Such a
/// path has its own list of links. All others share their tails.
class PathSearch {
 public:
  PathSearch(Paths& paths, bool nvb) : paths_(paths), graph_(*paths.graph_), nvb_(nvb) {}

  /// Errors  kUnsupported  a path of more than Paths::kHopsMax links
  Status Run();

 private:
  /// An element of a path. Paths share their tails.
  struct Cell {
    std::uint32_t node = 0;
    std::uint16_t link = 0;  ///< index in the node's list
    std::uint32_t next = 0;  ///< cell of the remaining path; 0: at the end
  };
  struct PathState {
    Path path;
    std::uint32_t cell = 0;
    bool open = false;  ///< true if the node is in the next round
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
  NodeIndex own_{};             // the node next to the end: its device, or the end itself
  std::uint32_t nvb_hops_ = 0;  // maximum hops to a device for NVLinks beyond it
  std::vector<Cell> cells_;
  std::vector<PathState> states_;
  std::vector<NodeIndex> round_, next_round_;
};

}  // namespace ringlet::topology
