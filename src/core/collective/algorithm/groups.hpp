// Which ranks are near each other: hosts, with the ranks of each.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "ringlet/types.hpp"

namespace ringlet::collective {

/// The ranks of each host, every rank once. The same value on all ranks.
using Groups = std::vector<std::vector<Rank>>;

/// The place of a rank.
struct GroupPlace {
  std::size_t group = 0;
  std::size_t local = 0;  ///< its place within
};

/// Empty: the rank is in no group.
std::optional<GroupPlace> PlaceIn(const Groups& groups, Rank rank);

/// The size of the smallest group; 0 without any.
std::size_t SmallestOf(const Groups& groups);
std::size_t LargestOf(const Groups& groups);

/// All ranks, group after group.
std::vector<Rank> InOrder(const Groups& groups);

/// `ranks` in hosts of equal size, as far as they go, one after the other: for `--hosts`.
Groups EvenGroups(std::uint32_t ranks, std::uint32_t hosts);

}  // namespace ringlet::collective
