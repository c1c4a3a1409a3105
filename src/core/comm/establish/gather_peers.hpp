// Exchanges the places of all ranks among all ranks.
#pragma once
#include <vector>

#include "base/settings/settings.hpp"
#include "comm/control/control.hpp"
#include "comm/peers/peer_table.hpp"

namespace ringlet::comm {

/// Checks that settings agree and devices differ, and exchanges host views. One rank sends each
/// shape of a host, for any number of hosts and ranks.
/// \param peer_infos  by rank
/// Errors  kInvalidArgument  a setting that must agree does not, names setting, values and ranks; a
///                           device that two ranks name, names both, host and device; and as
///                           Control::AllGather
/// Cost    one all-gather of the shapes that differ; O(ranks + hosts * view)
Result<PeerTable> MakePeerTable(Control& control, std::vector<PeerInfo> peer_infos,
                                const Settings& settings, const topology::HostView& local_host);

/// Returns the peer infos of the ranks' check-ins, by rank.
Result<std::vector<PeerInfo>> ReadPeerInfo(const Control& control);

}  // namespace ringlet::comm
