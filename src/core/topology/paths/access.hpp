// Checks the transports that two ends may use, by NCCL's rules.
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "topology/paths/paths.hpp"

namespace ringlet::topology {

/// The access between two ranks on GPUs.
struct PeerAccess {
  bool allowed = false;
  /// The GPU that relays, if NVLink connects them through exactly one other GPU.
  std::optional<NodeIndex> through = {};
};

/// Checks the access between ranks on GPUs. The constructor reads the paths from each GPU to the
/// NICs. The object is invalid once these paths change.
class Access {
 public:
  /// \param paths, options  must outlive this object
  Access(const Paths& paths, const PathOptions& options);

  /// Determines if GPU `from` can write to GPU `to` without a processor.
  /// Errors  kInvalidArgument  NVLink joins them, but the driver denies access; contains ranks,
  ///                           host and cure
  Result<PeerAccess> Peer(NodeIndex from, NodeIndex to) const;

  /// Returns true if the route through NICs is wider than the path between the two GPUs.
  bool NetIsFaster(NodeIndex from, NodeIndex to) const;

  /// Returns true if peer access or shared memory connects the GPUs. Else only the network does.
  Result<bool> CanConnect(NodeIndex from, NodeIndex to) const;

 private:
  bool SharedMemory(NodeIndex from, NodeIndex to) const;
  bool DriverGrants(NodeIndex from, NodeIndex to, std::optional<NodeIndex> through) const;

  const Paths& paths_;
  const PathOptions& options_;
  std::unordered_map<NodeIndex, Bandwidth> widest_to_net_;  // without a processor on the path
};

enum class NicDirection : std::uint8_t { kSend, kReceive };

/// Returns true if a NIC reads (to send) or writes (to receive) a GPU's memory directly.
/// \param relay  on a PXN path, the GPU near the NIC
bool MayGpuDirect(const Paths& paths, const PathOptions& options, NodeIndex gpu, NodeIndex net,
                  NicDirection direction, std::optional<NodeIndex> relay = std::nullopt);

}  // namespace ringlet::topology
