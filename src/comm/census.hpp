// Who is where: the cards of all ranks and the view of each host, the same value on every rank.
#pragma once
#include <vector>

#include "comm/card.hpp"
#include "comm/control.hpp"
#include "topology/graph.hpp"
#include "topology/host_view.hpp"

namespace ringlet::comm {

struct Census {
  std::vector<Card> cards;                  ///< by rank
  std::vector<topology::HostView> hosts;    ///< in order of their lowest rank
  std::vector<topology::RankPlace> places;  ///< by rank
  std::uint32_t ranks_on_host = 0;          ///< of this rank's host
};

/// \param cards  by rank
/// Checks that settings agree, and exchanges host views: one rank of each host
/// sends its own, whatever the number of ranks there.
/// Errors  kInvalidArgument  a setting that must agree does not; names setting, values and ranks
///         and as Control::AllGather.
Result<Census> TakeCensus(Control& control, std::vector<Card> cards, const Settings& settings,
                          const topology::HostView& here);

/// The cards with which the ranks checked in, by rank.
Result<std::vector<Card>> ReadCards(const Control& control);

}  // namespace ringlet::comm
