#include "bootstrap/member/seat.hpp"

#include "base/value/digest.hpp"

namespace ringlet::bootstrap {

std::unique_ptr<GroupSeat> TakeWorldSeat(const MemberConfig& config, TreePlace place,
                                         Roster roster) {
  auto seat = std::make_unique<GroupSeat>(GroupConfig{.id = kWorld,
                                                      .self = Index(config.rank),
                                                      .size = config.size,
                                                      .digest = 0,
                                                      .shape = config.shape,
                                                      .place = std::move(place),
                                                      .mailbox = config.mailbox});
  seat->group.set_roster(std::move(roster));
  return seat;
}

Result<std::unique_ptr<GroupSeat>> TakeSeat(GroupId id, const GroupSeat& parent,
                                            const std::vector<std::uint32_t>& ranks,
                                            const MemberConfig& config) {
  RINGLET_TRY_ASSIGN(Roster roster, parent.group.roster().Subset(ranks));
  if (config.shelf) {
    RINGLET_TRY_ASSIGN(roster, config.shelf->Adopt(roster.bytes()));
  }
  GroupConfig group{.id = id, .size = roster.size(), .mailbox = config.mailbox};
  std::vector<std::uint32_t> world, node_leaders;
  Digest digest;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    world.push_back(parent.ToWorld(ranks[rank]));
    digest.Add(std::uint64_t{world.back()});
    RINGLET_TRY_ASSIGN(const Rank node_leader, roster.NodeLeaderOf(Rank{rank}));
    node_leaders.push_back(Index(node_leader));
    if (world.back() == Index(config.rank)) group.self = rank;
  }
  group.digest = digest.value();
  group.place = PlaceInGroup(group.self, node_leaders, config.arity);
  auto seat = std::make_unique<GroupSeat>(std::move(group));
  seat->ranks = std::move(world);
  for (std::uint32_t rank = 0; rank < seat->ranks.size(); ++rank)
    seat->by_peer.emplace(seat->ranks[rank], rank);
  seat->group.set_roster(std::move(roster));
  return seat;
}

}  // namespace ringlet::bootstrap
