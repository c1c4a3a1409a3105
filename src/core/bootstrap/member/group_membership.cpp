#include "bootstrap/member/group_membership.hpp"

#include "base/value/digest.hpp"

namespace ringlet::bootstrap {

std::unique_ptr<GroupMembership> CreateWorldMembership(const MemberConfig& config, TreePlace place,
                                                       Roster roster) {
  auto membership = std::make_unique<GroupMembership>(GroupConfig{.id = kWorld,
                                                                  .self = Index(config.rank),
                                                                  .size = config.size,
                                                                  .digest = 0,
                                                                  .shape = config.shape,
                                                                  .place = std::move(place),
                                                                  .mailbox = config.mailbox});
  membership->group.set_roster(std::move(roster));
  return membership;
}

Result<std::unique_ptr<GroupMembership>> CreateMembership(GroupId id, const GroupMembership& parent,
                                                          const std::vector<std::uint32_t>& ranks,
                                                          const MemberConfig& config) {
  RINGLET_TRY_ASSIGN(Roster roster, parent.group.roster().Subset(ranks));
  if (config.roster_cache) {
    RINGLET_TRY_ASSIGN(roster, config.roster_cache->Adopt(roster.bytes()));
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
  auto membership = std::make_unique<GroupMembership>(std::move(group));
  membership->ranks = std::move(world);
  for (std::uint32_t rank = 0; rank < membership->ranks.size(); ++rank)
    membership->by_peer.emplace(membership->ranks[rank], rank);
  membership->group.set_roster(std::move(roster));
  return membership;
}

}  // namespace ringlet::bootstrap
