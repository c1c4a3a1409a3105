// The paths between the nodes of one system: type, bandwidth and links.
//
// PathSearch finds the best paths of the graph, as NCCL does. PathCorrection then adjusts them to
// the transports: for example, GPUs without peer access communicate through a processor. Both
// follow NCCL 2.30's rules, so that equal files give equal paths.
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
/// nodes. Inner nodes are NUMA nodes, switches and network devices only. For `from` itself: its
/// widest link, or 0 without links. 0 if no path exists.
/// Cost  O(links of the host * log nodes of the host)
std::vector<Bandwidth> WidestFrom(const Graph& graph, NodeIndex from);

struct Path {
  PathType type = PathType::kDis;
  Bandwidth bandwidth;     ///< of the narrowest link
  std::uint32_t hops = 0;  ///< number of links
  bool operator==(const Path&) const = default;
};

/// One link of a path.
struct Hop {
  NodeIndex from{}, to{};
  LinkKind kind = LinkKind::kLocal;
  Bandwidth bandwidth;
};

/// Paths from every node of a system to its ends: processors, GPUs and their devices, ports,
/// NVSwitches, ranks. Uses 8 bytes per path. The graph must outlive it.
class Paths {
 public:
  /// Maximum number of nodes in a system.
  static constexpr std::size_t kNodesMax = 65'535;
  static constexpr std::uint32_t kHopsMax = 1023;
  /// Maximum number of paths in a system, which take 2 GiB. A domain of 576 GPUs has 5 million.
  static constexpr std::size_t kPathsMax = std::size_t{1} << 28;
  /// Maximum number of search steps: about a minute. A domain of 576 GPUs takes 20 million.
  static constexpr std::size_t kStepsMax = std::size_t{1} << 32;

  const Graph& graph() const { return *graph_; }
  const SystemNodes& system() const { return system_; }
  const std::vector<NodeIndex>& Of(NodeKind kind) const {
    return kinds_[static_cast<std::size_t>(kind)];
  }

  /// kDis if a node is not in this system, or `to` is not an end.
  Path From(NodeIndex from, NodeIndex to) const {
    const Record* record = Find(from, to);
    if (record == nullptr) return {};
    return {static_cast<PathType>(record->type), {record->mb_per_s}, record->hops};
  }
  /// The links of a path in order. Empty for kDis, for one node, and for kNet without another path.
  std::vector<Hop> Route(NodeIndex from, NodeIndex to) const;
  /// Appends the links of Route() to a list.
  void AppendRoute(std::vector<Hop>& hops, NodeIndex from, NodeIndex to) const;
  /// The GPU near a kNet that prefers it. Other GPUs pass it their outgoing data for this NIC.
  std::optional<NodeIndex> LocalGpu(NodeIndex net) const;

  /// Memory in use, in bytes.
  std::size_t bytes() const;

 private:
  friend class PathSearch;
  friend class PathCorrection;
  friend Result<Paths> FindPaths(const Graph& graph, std::uint32_t system,
                                 const PathOptions& options);

  enum class Form : std::uint8_t { kLink, kVia, kListed };
  /// The path of a node to an end. By `form`: link `next`, then that neighbour's path; or the path
  /// to node `next` of the system, then that node's path; or a list in listed_.
  struct Record {
    std::uint32_t mb_per_s = 0;
    std::uint16_t type : 4 = static_cast<std::uint16_t>(PathType::kDis);
    std::uint16_t form : 2 = 0;
    std::uint16_t hops : 10 = 0;
    std::uint16_t next = 0;
  };
  struct Listed {
    std::uint64_t key;
    std::vector<std::uint16_t> links;  ///< by hop: index in its node's list
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
  std::vector<std::uint32_t> end_of_;  // by node of the system: its number among the ends
  std::vector<Record> records_;        // [end][node]
  std::vector<Listed> listed_;         // ascending
  std::vector<std::optional<NodeIndex>> local_gpus_;  // by kNet
};

/// \param system  index into Graph::systems
/// Errors  kUnsupported      more than kNodesMax nodes, kPathsMax paths or kStepsMax steps
///         kInvalidArgument  an NVLink between GPUs without peer access; contains both ranks and
///                           the cure
/// Cost    O(ends * links); docs/performance.md lists the time for 576 GPUs of one NVLink domain
Result<Paths> FindPaths(const Graph& graph, std::uint32_t system, const PathOptions& options);

}  // namespace ringlet::topology
