// The options of the search for the channels of one class of hosts.
#pragma once
#include <cstdint>
#include <string_view>

#include "topology/paths/paths.hpp"

namespace ringlet::plan {

enum class Policy : std::uint8_t {
  kBest,    ///< at least kCompat's bandwidth, and more if the hardware has more
  kCompat,  ///< NCCL 2.30's channels, bandwidths and types
};
inline std::string_view NameOf(Policy policy) {
  return policy == Policy::kBest ? "best" : "compat";
}

/// NCCL's variables that the search reads, and limits on its work. The defaults are NCCL's.
struct SearchOptions {
  Policy policy = Policy::kBest;
  /// The communicator has ranks outside this system.
  bool multi_node = false;
  std::uint32_t cross_nic = 2;  ///< NCCL_CROSS_NIC: 0 never, 1 always, 2 if it helps
  bool nvls = true;             ///< NCCL_NVLS_ENABLE
  /// Maximum and preferred minimum number of channels for rings and trees of kBest. More channels
  /// are as good as copies. 0: the limit of the search. kCompat ignores both, as NCCL does.
  std::uint32_t channels_min = 1, channels_max = 0;
  /// Applies to kBest only. If the highest bandwidth needs more than twice kCompat's channels, the
  /// search takes the fewest channels that reach 1 - 1/kKneePart of it and at least kCompat's
  /// bandwidth. Ignored on packed hosts of more than 10 devices, where it takes seconds.
  bool knee = false;
  topology::NetPolicy net_policy = {};  ///< NCCL_NETDEVS_POLICY
  bool scatter_nets = true;             ///< NCCL_MNNVL_SCATTER_NETS_ENABLE
  bool rail_per_host = false;           ///< NCCL_MNNVL_RAIL_PER_HOST
  bool collnet = false;                 ///< also search CollNet's graphs
  /// Compute PatternGraph::bound for reports. kBest always computes it, because the search uses it.
  bool bounds = false;
};

inline constexpr std::uint32_t kSearchDevicesMax = 1024;
/// A tenth more bandwidth justifies any number of channels. Reason: docs/decisions/0014.
inline constexpr std::uint32_t kKneePart = 10;

}  // namespace ringlet::plan
