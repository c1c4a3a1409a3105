// Who is where: the cards of all ranks and the view of each host, the same value on every rank.
#pragma once
#include <vector>

#include "comm/card.hpp"
#include "comm/control.hpp"
#include "topology/graph.hpp"
#include "topology/host_view.hpp"

namespace ringlet::comm {

struct Census {
  std::vector<Card> cards;  ///< by rank
  /// In order of their lowest rank, which is the one whose view counts. A GPU that a rank is on has
  /// that rank, so that Build can join what is one NVLink domain.
  std::vector<topology::HostView> hosts;
  std::vector<topology::RankPlace> places;  ///< by rank
  std::uint32_t ranks_on_host = 0;          ///< of this rank's host
};

/// \param cards  by rank
/// Checks that settings agree and devices do not, and exchanges host views: one rank for each shape
/// of a host sends it, whatever the number of hosts and ranks.
/// Errors  kInvalidArgument  a setting that must agree does not, names setting, values and ranks; a
///                           device that two ranks name, names both, host and device
///         and as Control::AllGather.
/// Cost    one all-gather of the shapes that differ; O(ranks + hosts * view)
Result<Census> TakeCensus(Control& control, std::vector<Card> cards, const Settings& settings,
                          const topology::HostView& here);

/// The cards with which the ranks checked in, by rank.
Result<std::vector<Card>> ReadCards(const Control& control);

}  // namespace ringlet::comm
