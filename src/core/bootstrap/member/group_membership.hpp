// A member's place in one group: the group, the mapping between its ranks and the world's, and the
// ranks that know of its failure.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "bootstrap/group.hpp"
#include "bootstrap/member/config.hpp"
#include "bootstrap/member/failure_spread.hpp"
#include "bootstrap/member/group_frames.hpp"

namespace ringlet::bootstrap {

struct GroupMembership {
  explicit GroupMembership(GroupConfig config) : group(std::move(config)) {}

  /// Maps a rank of the group to a rank of the member's world, and back. Both are equal in the
  /// world.
  std::uint32_t ToWorld(std::uint32_t rank) const { return ranks.empty() ? rank : ranks[rank]; }
  std::optional<std::uint32_t> FromWorld(std::uint32_t peer) const {
    if (ranks.empty()) return peer;
    const auto it = by_peer.find(peer);
    if (it == by_peer.end()) return std::nullopt;
    return it->second;
  }

  /// Announces this group to its ranks. \param answers  see LostRanks
  FormAnnouncement Announcement(bool answers = false) const {
    if (!reformed_from) return {.digest = group.digest()};
    return {.digest = group.digest(),
            .lost = LostRanks{lineage, answers, {lost.begin(), lost.end()}}};
  }

  GroupProtocol group;
  std::vector<std::uint32_t> ranks;  // world ranks by group rank; empty: the world
  std::unordered_map<std::uint32_t, std::uint32_t> by_peer;
  FailureSpread news;
  /// World ranks that are lost, as far as this rank knows: ranks of this group, and those that were
  /// left out when it was reformed.
  std::set<std::uint32_t> lost;
  /// In a reformed group: the world ranks to which this rank has sent its announcement.
  std::set<std::uint32_t> announced;
  /// The group that this rank formed it from, if the group was reformed.
  std::optional<GroupId> reformed_from;
  GroupId lineage = kWorld;  ///< of a reformed group: the group that was reformed first
};

/// The place in the world. \param place  used in a tree
std::unique_ptr<GroupMembership> CreateWorldMembership(const MemberConfig& config, TreePlace place,
                                                       Roster roster);
/// The place in a group of some ranks of another group, in the given order.
/// \param ranks  of `parent`, including this rank
Result<std::unique_ptr<GroupMembership>> CreateMembership(GroupId id, const GroupMembership& parent,
                                                          const std::vector<std::uint32_t>& ranks,
                                                          const MemberConfig& config);

}  // namespace ringlet::bootstrap
