// Which transports may be used between two ends, by NCCL's rules.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "topology/paths/paths.hpp"

namespace ringlet::topology {

/// How two ranks on GPUs reach each other.
struct PeerAccess {
  bool allowed = false;
  /// The GPU that passes it on, where NVLink leads there through one only.
  std::optional<NodeIndex> through = {};
};

/// Which ways two ranks on GPUs have to reach each other. Looks at the paths of each GPU to the
/// NICs once, and so lives no longer than these stay as they are.
class Access {
 public:
  /// \param paths, options  outlive this
  Access(const Paths& paths, const PathOptions& options);

  /// Whether GPU `from` writes to GPU `to` without help of a processor.
  /// Errors  kInvalidArgument  they are joined by NVLink, but the driver keeps them apart; names
  ///                           ranks, host and the cure
  Result<PeerAccess> Peer(NodeIndex from, NodeIndex to) const;

  /// Whether the way out by a NIC and in again is wider than that between the two.
  bool NetIsFaster(NodeIndex from, NodeIndex to) const;

  /// Whether peer access or shared memory can join them; else there is only the network.
  Result<bool> CanConnect(NodeIndex from, NodeIndex to) const;

 private:
  bool SharedMemory(NodeIndex from, NodeIndex to) const;
  bool DriverGrants(NodeIndex from, NodeIndex to, std::optional<NodeIndex> through) const;

  const Paths& paths_;
  const PathOptions& options_;
  std::unordered_map<NodeIndex, Bandwidth> widest_to_net_;  // without a processor between
};

enum class NicDirection : std::uint8_t { kSend, kReceive };

/// Whether a NIC reads (to send) or writes (to receive) the memory of a GPU itself.
/// \param relay  of a PXN path: the GPU that the NIC is near
bool MayGpuDirect(const Paths& paths, const PathOptions& options, NodeIndex gpu, NodeIndex net,
                  NicDirection direction, std::optional<NodeIndex> relay = std::nullopt);

}  // namespace ringlet::topology
