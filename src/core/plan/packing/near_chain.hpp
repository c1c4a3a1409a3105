// Finds a cheap chain through all devices by moving parts of it. Serves systems with too many
// devices for a search over all sets.
#pragma once
#include <cstdint>
#include <vector>

namespace ringlet::plan {

/// The costs to begin a chain, to pass from one device to the next, and to end it.
struct ChainCosts {
  /// Below kFar. kFar: the route does not exist.
  using Cost = std::int32_t;
  static constexpr Cost kFar = (Cost{1} << 30) - 1;

  std::uint32_t devices = 0;
  std::vector<Cost> head;     ///< cost to begin with a device
  std::vector<Cost> between;  ///< [to][from]
  std::vector<Cost> tail;     ///< cost to end with a device

  std::int64_t Between(std::uint32_t from, std::uint32_t to) const {
    return between[to * devices + from];
  }
  std::int64_t Of(const std::vector<std::uint32_t>& order) const;
};

/// Returns an order of all devices that no move of one part makes cheaper, not even reversed. It is
/// the best result over several greedy chains.
/// \param costs  of at least one device
/// \param work  the function adds the number of routes that it visits
/// Cost    O(devices^3) per move; tens of microseconds for 16 devices, hundreds for 32
/// Source  Or-opt with parts of any length: I. Or, Traveling salesman-type combinatorial problems
///         and their relation to the logistics of regional blood banking, 1976
std::vector<std::uint32_t> NearChain(const ChainCosts& costs, std::int64_t& work);

}  // namespace ringlet::plan
