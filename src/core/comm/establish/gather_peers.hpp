// Exchanges the places of all ranks among all ranks.
#pragma once
#include <vector>

#include "base/settings/settings.hpp"
#include "comm/control/control.hpp"
#include "comm/peers/peer_table.hpp"

namespace ringlet::comm {

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
