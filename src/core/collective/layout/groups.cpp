#include "collective/layout/groups.hpp"

#include <algorithm>

#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

std::optional<GroupPosition> PlaceIn(const Groups& groups, Rank rank) {
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const auto found = std::find(groups[group].begin(), groups[group].end(), rank);
    if (found != groups[group].end())
      return GroupPosition{group, static_cast<std::size_t>(found - groups[group].begin())};
  }
  return std::nullopt;
}

std::size_t SmallestOf(const Groups& groups) {
  std::size_t smallest = groups.empty() ? 0 : groups.front().size();
  for (const auto& group : groups) smallest = std::min(smallest, group.size());
  return smallest;
}

std::size_t LargestOf(const Groups& groups) {
  std::size_t largest = 0;
  for (const auto& group : groups) largest = std::max(largest, group.size());
  return largest;
}

std::vector<Rank> InOrder(const Groups& groups) {
  std::vector<Rank> order;
  for (const auto& group : groups) order.insert(order.end(), group.begin(), group.end());
  return order;
}

Groups EvenGroups(std::uint32_t ranks, std::uint32_t hosts) {
  Groups groups;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    const Range of_host = EvenChunk(ranks, hosts, host);
    auto& group = groups.emplace_back();
    for (std::size_t rank = of_host.begin; rank < of_host.end(); ++rank)
      group.push_back(Rank{static_cast<std::uint32_t>(rank)});
  }
  return groups;
}

}  // namespace ringlet::collective
