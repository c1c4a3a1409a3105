// The places of all ranks: their peer infos and the view of each host, the same value on every
// rank.
#pragma once
#include <vector>

#include "comm/control/control.hpp"
#include "comm/establish/peer_info.hpp"
#include "topology/graph/graph.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::comm {

struct PeerTable {
  std::vector<PeerInfo> peer_infos;  ///< by rank
  /// In order of their lowest rank, which is the one whose view counts. A GPU that a rank is on has
  /// that rank, so that Build can join what is one NVLink domain.
  std::vector<topology::HostView> hosts;
  std::vector<topology::RankPlace> places;  ///< by rank
  std::uint32_t ranks_on_host = 0;          ///< of this rank's host
};

/// \param peer_infos  by rank
/// Checks that settings agree and devices do not, and exchanges host views: one rank for each shape
/// of a host sends it, whatever the number of hosts and ranks.
/// Errors  kInvalidArgument  a setting that must agree does not, names setting, values and ranks; a
///                           device that two ranks name, names both, host and device
///         and as Control::AllGather.
/// Cost    one all-gather of the shapes that differ; O(ranks + hosts * view)
Result<PeerTable> MakePeerTable(Control& control, std::vector<PeerInfo> peer_infos,
                                const Settings& settings, const topology::HostView& local_host);

/// The peer infos with which the ranks checked in, by rank.
Result<std::vector<PeerInfo>> ReadPeerInfo(const Control& control);

}  // namespace ringlet::comm
