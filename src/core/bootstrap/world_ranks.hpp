// The ranks of a group by their numbers in the world.
#pragma once
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "bootstrap/survivors.hpp"

namespace ringlet::bootstrap {

/// All ranks of the world, or a list of some, or those of either that remain after some were left
/// out. Copies share their lists.
class WorldRanks {
 public:
  /// All ranks of the world.
  WorldRanks() = default;
  /// \param ranks  by rank of the group; each once
  /// Cost  O(ranks)
  explicit WorldRanks(std::vector<std::uint32_t> ranks);
  /// \param survivors  of the list, even if ranks were left out before; not null
  WorldRanks Without(std::shared_ptr<const Survivors> survivors) const;

  std::uint32_t ToWorld(std::uint32_t rank) const {
    const std::uint32_t listed = survivors_ ? survivors_->OldRank(rank) : rank;
    return list_ ? list_->ranks[listed] : listed;
  }
  /// Returns empty if the group does not contain the rank. \param peer  a rank of the world
  std::optional<std::uint32_t> FromWorld(std::uint32_t peer) const {
    const auto listed = PlaceInList(peer);
    return listed && survivors_ ? survivors_->NewRank(*listed) : listed;
  }
  /// FromWorld before any rank was left out.
  std::optional<std::uint32_t> PlaceInList(std::uint32_t peer) const;

 private:
  struct List {
    std::vector<std::uint32_t> ranks;
    std::unordered_map<std::uint32_t, std::uint32_t> places;  // by rank of the world
  };
  std::shared_ptr<const List> list_;            // null: the world
  std::shared_ptr<const Survivors> survivors_;  // null: all
};

}  // namespace ringlet::bootstrap
