// Visits the routes of a channel in order.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "plan/routes/route_table.hpp"

namespace ringlet::plan {

/// Calls `what` for each route of a ring's or a tree's channel until `what` returns false.
/// \param what  receives both ends, and true if the route carries half the bandwidth
/// \return true if `what` never returned false
template <typename What>
bool ForEachRoute(Pattern pattern, const LocalChannel& channel, const What& what) {
  const std::vector<std::uint32_t>& order = channel.devices;
  const bool ring = pattern == Pattern::kRing;
  const bool several = order.size() > 1;
  for (std::size_t i = 0; i + 1 < order.size(); ++i)
    if (!what(DeviceEnd(order[i]), DeviceEnd(order[i + 1]), false)) return false;
  if (!channel.entry || !channel.exit)
    return !ring || !several || what(DeviceEnd(order.back()), DeviceEnd(order.front()), false);
  if (!what(NetEnd(*channel.entry), DeviceEnd(order.front()), false)) return false;
  const bool halves = pattern == Pattern::kBalancedTree && several;
  const bool split = pattern == Pattern::kSplitTree && several;
  const std::uint32_t leaving = ring ? order.back() : order[split ? 1 : 0];
  if (!what(DeviceEnd(leaving), NetEnd(*channel.exit), halves)) return false;
  return !halves || what(DeviceEnd(order[1]), NetEnd(*channel.exit), true);
}

}  // namespace ringlet::plan
