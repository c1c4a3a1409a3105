// Groups: the ranks of each host.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "ringlet/types.hpp"

namespace ringlet::collective {

/// The ranks of each host, with each rank once. The same value on all ranks.
using Groups = std::vector<std::vector<Rank>>;

/// The position of a rank in Groups.
struct GroupPosition {
  std::size_t group = 0;
  std::size_t local = 0;  ///< its index within the group
};

/// Returns empty if no group contains the rank.
std::optional<GroupPosition> PlaceIn(const Groups& groups, Rank rank);

/// Returns the size of the smallest group, or 0 without groups.
std::size_t SmallestOf(const Groups& groups);
std::size_t LargestOf(const Groups& groups);

/// Returns all ranks, group by group.
std::vector<Rank> InOrder(const Groups& groups);

/// Returns ranks 0 to `ranks` - 1 on hosts of sizes as equal as possible, for `--hosts`.
Groups EvenGroups(std::uint32_t ranks, std::uint32_t hosts);

}  // namespace ringlet::collective
