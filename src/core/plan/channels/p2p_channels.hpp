// Computes the number of channels for sends and receives between two ranks. Pure arithmetic.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "topology/graph/bandwidth.hpp"

namespace ringlet::plan {

/// The properties of a class of nodes that limit channels of sends and receives.
struct P2pNodeClass {
  /// Width of the path for each pair of GPUs on the node. Null if NVLink does not join them.
  std::span<const std::optional<topology::Bandwidth>> paths;
  topology::Bandwidth nvlink;      ///< of one link
  std::uint32_t nics = 0;          ///< number of NICs that fill a GPU's path to its processor
  topology::Bandwidth nics_width;  ///< of these NICs together
};

/// The user's limits. The defaults are NCCL's.
struct P2pLimits {
  std::uint32_t min = 1;                       ///< NCCL_MIN_P2P_NCHANNELS
  std::uint32_t max = 64;                      ///< NCCL_MAX_P2P_NCHANNELS
  topology::Bandwidth of_a_channel{14'000};    ///< NCCL_P2P_PER_CHANNEL_NET_BW
  std::optional<std::uint32_t> net_peer = {};  ///< NCCL_NCHANNELS_PER_NET_PEER
};

struct P2pChannels {
  std::uint32_t total = 1;
  std::uint32_t of_a_peer = 1;
  bool operator==(const P2pChannels&) const = default;
};

/// \param nodes      number of nodes
/// \param peers_max  number of ranks on the largest node
/// \param channels   number of channels of the plan
/// Source  NCCL 2.30
P2pChannels CountP2pChannels(std::span<const P2pNodeClass> classes, std::uint32_t nodes,
                             std::uint32_t peers_max, std::uint32_t channels,
                             const P2pLimits& limits);

}  // namespace ringlet::plan
