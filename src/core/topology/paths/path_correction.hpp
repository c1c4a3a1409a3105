// Adjusts the best paths to the transports that may run on them.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "topology/paths/locality.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::topology {

/// Changes only paths between GPUs, and between GPUs and NICs.
class PathCorrection {
 public:
  PathCorrection(Paths& paths, const PathOptions& options) : paths_(paths), options_(options) {}
  /// Errors  kInvalidArgument  as Access::Peer
  ///         kUnsupported      more than Paths::kStepsMax steps
  Status Run();

 private:
  Status CorrectPeers();
  void CorrectC2c();
  Status CorrectNets();
  void CorrectNet(NodeIndex net, std::optional<NodeIndex> relay);
  void HandOver(NodeIndex net, NodeIndex gpu, NodeIndex relay);
  Result<std::optional<NodeIndex>> FindLocalGpu(NodeIndex net);
  const NearNets& NearNetsOfGpu(NodeIndex gpu);
  void RouteThrough(NodeIndex from, NodeIndex via, NodeIndex to);
  void LowerType(NodeIndex from, NodeIndex to, PathType type);

  Paths& paths_;
  const PathOptions& options_;
  std::size_t steps_ = 0;
  std::unordered_map<std::uint32_t, NodeIndex> cpu_of_;    // nearest NUMA node, by GPU
  std::unordered_map<std::uint32_t, NearNets> near_nets_;  // by GPU; erased when its paths change
};

}  // namespace ringlet::topology
