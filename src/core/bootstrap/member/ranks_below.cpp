#include "bootstrap/member/ranks_below.hpp"

#include <fmt/format.h>

namespace ringlet::bootstrap {

Status RanksBelow::Call(const RosterInbox& inbox, MemberCommon& common) {
  while (called_ < ranges_.size()) {
    const PlaceRange& subtree = ranges_[called_];
    RINGLET_TRY_ASSIGN(const auto found, inbox.FindNodeLeader(subtree.first));
    if (!found) return Ok();
    const auto& [rank, address] = *found;
    common.connections
        .Connect(MemberLine::kChild, Index(rank), address.addresses, common.neighbour_deadline(),
                 common.now)
        .subtree = subtree;
    ++called_;
  }
  return Ok();
}

void RanksBelow::OnOpened(LineId id, bool whole, Connections& connections) {
  for (const Slice& piece : pieces_) connections.SendPayload(id, FrameType::kRoster, piece);
  ++opened_;
  if (whole) Complete();
}

Status CheckPlace(const Roster& roster, const MemberConfig& config,
                  const std::optional<PlaceRange>& subtree, std::uint32_t upper) {
  if (roster.first() != 0 || roster.size() != config.size)
    return Error{Code::kProtocol,
                 fmt::format("the roster has {} ranks, not {}", roster.size(), config.size)};
  RINGLET_TRY_ASSIGN(const Rank node_leader, roster.NodeLeaderOf(config.rank));
  const bool mine = subtree ? subtree->first < roster.node_leader_count() &&
                                  roster.NodeLeader(subtree->first) == config.rank
                            : Index(node_leader) == upper;
  if (!mine)
    return Error{Code::kProtocol, fmt::format("the roster gives rank {} another place in the tree "
                                              "than the one that called it",
                                              Index(config.rank))};
  return Ok();
}

}  // namespace ringlet::bootstrap
