// A member's place in one group: the group, the mapping between its ranks and the ranks of the
// world, and the ranks that know of its failure.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "bootstrap/group.hpp"
#include "bootstrap/member/config.hpp"
#include "bootstrap/member/failure_spread.hpp"
#include "bootstrap/member/group_frames.hpp"
#include "bootstrap/rank_set.hpp"
#include "bootstrap/world_ranks.hpp"

namespace ringlet::bootstrap {

struct GroupMembership {
  explicit GroupMembership(GroupConfig config) : group(std::move(config)) {}

  /// Announces this group to its ranks. \param answers  see LostRanks
  FormAnnouncement Announcement(bool answers = false) const {
    if (!reformed_from) return {.digest = group.digest()};
    return {.digest = group.digest(), .lost = LostRanks{lineage, answers, lost.ranks()}};
  }

  std::uint32_t ToWorld(std::uint32_t rank) const { return ranks.ToWorld(rank); }
  std::optional<std::uint32_t> FromWorld(std::uint32_t peer) const { return ranks.FromWorld(peer); }

  GroupProtocol group;
  WorldRanks ranks;
  FailureSpread news;
  /// World ranks that are lost, as far as this rank knows: ranks of this group, and those that were
  /// left out when it was reformed.
  RankSet lost;
  /// In a reformed group: the world ranks to which this rank has sent its announcement.
  std::set<std::uint32_t> announced;
  /// The group that this rank formed it from, if the group was reformed.
  std::optional<GroupId> reformed_from;
  GroupId lineage = kWorld;          ///< of a reformed group: the group that was reformed first
  std::uint64_t lineage_digest = 0;  ///< the digest of that group
  std::uint32_t lineage_size = 0;    ///< the number of its ranks
};

/// The place in the world. \param place  used in a tree
std::unique_ptr<GroupMembership> CreateWorldMembership(const MemberConfig& config, TreePlace place,
                                                       Roster roster);
/// The place in a group of some ranks of another group, in the given order.
/// \param ranks  of `parent`, including this rank
/// Cost  O(ranks)
Result<std::unique_ptr<GroupMembership>> CreateMembership(GroupId id, const GroupMembership& parent,
                                                          const std::vector<std::uint32_t>& ranks,
                                                          const MemberConfig& config);
/// The place in the group of the ranks of `parent` that are not in `parent.lost`. It shares the
/// list and the roster of the group that was reformed first. This rank must not be lost.
///
/// Cost  O(lost ranks and ranks at their places in the tree), and see ControlTree
std::unique_ptr<GroupMembership> CreateReformed(GroupId id, const GroupMembership& parent,
                                                const MemberConfig& config);

}  // namespace ringlet::bootstrap
