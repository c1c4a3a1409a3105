// The ways between the nodes of one system: how far, how wide, and through what.
//
// First come the best paths of the graph itself, found as NCCL finds them; then what transports can
// really use: GPUs that may not access each other go through a processor, and so on. All of it
// follows NCCL 2.30's rules, so that equal files give equal paths.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/graph/graph.hpp"
#include "topology/paths/path_options.hpp"

namespace ringlet::topology {

/// The bandwidth of the widest path from `from` to each node of its host, in the host's order of
/// nodes; a path passes through NUMA nodes, switches and devices of the network only. To `from`
/// itself: its widest link, or 0 without links; 0 also where no path leads.
/// Cost  O(links of the host * log nodes of the host)
std::vector<Bandwidth> WidestFrom(const Graph& graph, NodeIndex from);

struct Path {
  PathType type = PathType::kDis;
  Bandwidth bandwidth;     ///< of the narrowest link
  std::uint32_t hops = 0;  ///< links
  bool operator==(const Path&) const = default;
};

/// One link of a path.
struct Hop {
  NodeIndex from{}, to{};
  LinkKind kind = LinkKind::kLocal;
  Bandwidth bandwidth;
};

/// Paths from every node of a system to its ends: processors, GPUs and their devices, ports,
/// NVSwitches, ranks. 8 bytes a path; the graph must outlive it.
class Paths {
 public:
  /// Nodes of a system that paths can tell apart.
  static constexpr std::size_t kNodesMax = 65'535;
  static constexpr std::uint32_t kHopsMax = 1023;
  /// Paths of one system: 2 GiB. A domain of 576 GPUs has 5 million.
  static constexpr std::size_t kPathsMax = std::size_t{1} << 28;
  /// Steps of the search: about a minute. A domain of 576 GPUs takes 20 million.
  static constexpr std::size_t kStepsMax = std::size_t{1} << 32;

  const Graph& graph() const { return *graph_; }
  const SystemNodes& system() const { return system_; }
  const std::vector<NodeIndex>& Of(NodeKind kind) const {
    return kinds_[static_cast<std::size_t>(kind)];
  }

  /// kDis for what is not of this system, or no end.
  Path From(NodeIndex from, NodeIndex to) const {
    const Record* record = Find(from, to);
    if (record == nullptr) return {};
    return {static_cast<PathType>(record->type), {record->mb_per_s}, record->hops};
  }
  /// Its links in order; empty for kDis, from a node to itself, and for kNet where there is no
  /// other way at all.
  std::vector<Hop> Route(NodeIndex from, NodeIndex to) const;
  /// As Route, at the end of a list.
  void AppendRoute(std::vector<Hop>& hops, NodeIndex from, NodeIndex to) const;
  /// Of a kNet: the GPU that prefers it and is near it, to whom others hand what is to leave by it.
  std::optional<NodeIndex> LocalGpu(NodeIndex net) const;

  /// The bytes that it holds in memory.
  std::size_t bytes() const;

 private:
  friend class PathSearch;
  friend class PathCorrection;
  friend Result<Paths> FindPaths(const Graph& graph, std::uint32_t system,
                                 const PathOptions& options);

  enum class Form : std::uint8_t { kLink, kVia, kListed };
  /// How to get to an end: by the link `next` and on as from there; or to node `next` of the system
  /// first; or by the list in listed_.
  struct Record {
    std::uint32_t mb_per_s = 0;
    std::uint16_t type : 4 = static_cast<std::uint16_t>(PathType::kDis);
    std::uint16_t form : 2 = 0;
    std::uint16_t hops : 10 = 0;
    std::uint16_t next = 0;
  };
  struct Listed {
    std::uint64_t key;
    std::vector<std::uint16_t> links;  ///< position of each in its node's list
  };

  static constexpr std::uint32_t kNoEnd = std::numeric_limits<std::uint32_t>::max();
  bool Has(NodeIndex node) const {
    return Index(node) >= system_.first && Index(node) < system_.end;
  }
  std::uint32_t Local(NodeIndex node) const { return Index(node) - system_.first; }
  Record* Find(NodeIndex from, NodeIndex to);
  const Record* Find(NodeIndex from, NodeIndex to) const {
    if (!Has(from) || !Has(to) || end_of_[Local(to)] == kNoEnd) return nullptr;
    return &records_[std::size_t{end_of_[Local(to)]} * end_of_.size() + Local(from)];
  }
  std::uint64_t Key(NodeIndex from, NodeIndex to) const;

  const Graph* graph_ = nullptr;
  SystemNodes system_;
  std::vector<std::vector<NodeIndex>> kinds_;
  std::vector<std::uint32_t> end_of_;  // of a node of the system: its number among the ends
  std::vector<Record> records_;        // [end][node]
  std::vector<Listed> listed_;         // ascending
  std::vector<std::optional<NodeIndex>> local_gpus_;  // for each kNet
};

/// \param system  index into Graph::systems
/// Errors  kUnsupported      more than kNodesMax nodes, kPathsMax paths or kStepsMax steps
///         kInvalidArgument  an NVLink whose GPUs the driver keeps apart; names both ranks and the
///                           cure
/// Cost    O(ends * links): 576 GPUs of one NVLink domain, see docs/performance.md
Result<Paths> FindPaths(const Graph& graph, std::uint32_t system, const PathOptions& options);

}  // namespace ringlet::topology
