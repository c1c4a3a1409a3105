#include "bootstrap/member/group_membership.hpp"

#include <algorithm>

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
  std::vector<std::uint32_t> world;
  Digest digest;
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    world.push_back(parent.ToWorld(ranks[rank]));
    digest.Add(std::uint64_t{world.back()});
    if (world.back() == Index(config.rank)) group.self = rank;
  }
  group.digest = digest.value();
  group.place = roster.PlaceOf(Rank{group.self}, config.arity);
  auto membership = std::make_unique<GroupMembership>(std::move(group));
  membership->ranks = WorldRanks(std::move(world));
  membership->group.set_roster(std::move(roster));
  return membership;
}

std::unique_ptr<GroupMembership> CreateReformed(GroupId id, const GroupMembership& parent,
                                                const MemberConfig& config) {
  const bool again = parent.reformed_from.has_value();
  const std::uint64_t lineage_digest = again ? parent.lineage_digest : parent.group.digest();
  const std::uint32_t lineage_size = again ? parent.lineage_size : parent.group.size();
  std::vector<std::uint32_t> left_out;
  for (const std::uint32_t peer : parent.lost.ranks())
    if (const auto place = parent.ranks.PlaceInList(peer)) left_out.push_back(*place);
  std::ranges::sort(left_out);
  Digest digest;
  digest.Add(lineage_digest);
  for (const std::uint32_t place : left_out) digest.Add(std::uint64_t{place});
  const auto survivors = std::make_shared<const Survivors>(lineage_size, std::move(left_out));
  const WorldRanks ranks = parent.ranks.Without(survivors);
  Roster roster = parent.group.roster().Without(survivors);
  GroupConfig group{.id = id,
                    .self = ranks.FromWorld(Index(config.rank)).value(),
                    .size = survivors->size(),
                    .digest = digest.value(),
                    .mailbox = config.mailbox};
  group.place = roster.PlaceOf(Rank{group.self}, config.arity);
  auto membership = std::make_unique<GroupMembership>(std::move(group));
  membership->ranks = ranks;
  membership->group.set_roster(std::move(roster));
  membership->lost = parent.lost;
  membership->reformed_from = parent.group.id();
  membership->lineage = again ? parent.lineage : parent.group.id();
  membership->lineage_digest = lineage_digest;
  membership->lineage_size = lineage_size;
  return membership;
}

}  // namespace ringlet::bootstrap
