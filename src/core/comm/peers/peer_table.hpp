// The places of all ranks: their peer infos and the view of each host. Equal on all ranks.
#pragma once
#include <algorithm>
#include <vector>

#include "comm/peers/peer_info.hpp"
#include "topology/graph/graph.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::comm {

struct PeerTable {
  std::vector<PeerInfo> peer_infos;  ///< by rank
  /// Sorted by lowest rank, which supplies the view. A rank's GPU has the number of that rank, so
  /// that Build can join an NVLink domain.
  std::vector<topology::HostView> hosts;
  std::vector<topology::RankPlace> places;  ///< by rank
  std::uint32_t ranks_on_host = 0;          ///< of this rank's host
};

inline bool SameHost(const PeerTable& peer_table, std::uint32_t a, std::uint32_t b) {
  return peer_table.peer_infos[a].host_hash == peer_table.peer_infos[b].host_hash;
}

/// Returns the number of ranks on the host of `rank` that have a lower number. Cost O(ranks).
inline std::uint32_t PlaceOnHost(Rank rank, const PeerTable& peer_table) {
  const std::uint32_t host = peer_table.places[Index(rank)].host;
  return static_cast<std::uint32_t>(
      std::count_if(peer_table.places.begin(), peer_table.places.begin() + Index(rank),
                    [&](const topology::RankPlace& place) { return place.host == host; }));
}

}  // namespace ringlet::comm
