// The ways that a channel of a pattern takes, one after the other.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "plan/routes/route_table.hpp"

namespace ringlet::plan {

/// The ways of a channel of a ring or a tree, until `what` returns false.
/// \param what  gets both ends, and whether half the bandwidth goes there
/// \return whether it never did
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
