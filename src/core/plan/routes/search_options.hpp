// The options of the search for the channels of one class of hosts.
#pragma once
#include <cstdint>
#include <string_view>

#include "topology/paths/paths.hpp"

namespace ringlet::plan {

enum class Policy : std::uint8_t {
  kBest,    ///< never less bandwidth than kCompat, more where the hardware has more
  kCompat,  ///< NCCL 2.30's channels, bandwidths and types
};
inline std::string_view NameOf(Policy policy) {
  return policy == Policy::kBest ? "best" : "compat";
}

/// NCCL's variables that the search heeds, and bounds on its work. Defaults are NCCL's.
struct SearchOptions {
  Policy policy = Policy::kBest;
  /// The communicator has ranks outside this system.
  bool multi_node = false;
  std::uint32_t cross_nic = 2;  ///< NCCL_CROSS_NIC: 0 never, 1 always, 2 if it helps
  bool nvls = true;             ///< NCCL_NVLS_ENABLE
  /// How many channels rings and trees of kBest may have, and at least should: more are as good as
  /// copies. 0: as many as the search allows. kCompat heeds neither, as NCCL's search does not.
  std::uint32_t channels_min = 1, channels_max = 0;
  /// Of kBest, where the most bandwidth takes more than twice as many channels as kCompat has: the
  /// fewest that have at least 1 - 1/kKneePart of it, and no less than kCompat. Not on packed hosts
  /// of more than 10 devices, where that takes seconds.
  bool knee = false;
  topology::NetPolicy net_policy = {};  ///< NCCL_NETDEVS_POLICY
  bool scatter_nets = true;             ///< NCCL_MNNVL_SCATTER_NETS_ENABLE
  bool rail_per_host = false;           ///< NCCL_MNNVL_RAIL_PER_HOST
  bool collnet = false;                 ///< look for CollNet's graphs, too
  /// Find PatternGraph::bound, for those who report it. kBest does so always, as it steers by it.
  bool bounds = false;
};

inline constexpr std::uint32_t kSearchDevicesMax = 1024;
/// A tenth more is worth any number of channels; docs/decisions/0097 has what that changes.
inline constexpr std::uint32_t kKneePart = 10;

}  // namespace ringlet::plan
