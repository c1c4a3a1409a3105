// A member's place in one group: the group, and who its ranks are on the member's connections.
#pragma once
#include <set>

#include "bootstrap/group.hpp"
#include "bootstrap/member.hpp"

namespace ringlet::bootstrap {

struct Member::Seat {
  explicit Seat(GroupConfig config) : group(std::move(config)) {}

  /// Rank of the member's world for a rank of the group, and back; the same in the world itself.
  std::uint32_t ToWorld(std::uint32_t rank) const { return ranks.empty() ? rank : ranks[rank]; }
  std::optional<std::uint32_t> FromWorld(std::uint32_t peer) const {
    if (ranks.empty()) return peer;
    const auto it = by_peer.find(peer);
    if (it == by_peer.end()) return std::nullopt;
    return it->second;
  }

  Group group;
  std::vector<std::uint32_t> ranks;  // empty: the world
  std::unordered_map<std::uint32_t, std::uint32_t> by_peer;

  // Of its failure, by rank of the group:
  bool told = false;               // those that a line stands to know
  std::set<std::uint32_t> knows;   // ranks that have told us
  std::set<std::uint32_t> called;  // ranks that have been told, or are being called; this rank, too
  std::set<std::uint32_t> absent;  // ranks that do not answer
  std::set<std::uint32_t> passed;  // in whose place those next to it have been told
};

}  // namespace ringlet::bootstrap
