// A chain through all devices that costs little, found by moving parts of it: where there are too
// many devices to look at all sets of them.
#pragma once
#include <cstdint>
#include <vector>

namespace ringlet::plan {

/// The costs of beginning a chain, of going on from one device to the next, and of ending.
struct ChainCosts {
  /// Less than kFar each, or kFar: there is no way.
  using Cost = std::int32_t;
  static constexpr Cost kFar = (Cost{1} << 30) - 1;

  std::uint32_t devices = 0;
  std::vector<Cost> head;     ///< to begin with a device
  std::vector<Cost> between;  ///< [device][device from which]
  std::vector<Cost> tail;     ///< to end with a device

  std::int64_t Between(std::uint32_t from, std::uint32_t to) const {
    return between[to * devices + from];
  }
  std::int64_t Of(const std::vector<std::uint32_t>& order) const;
};

/// An order of all devices that no single move of a part of it, as it is or turned round, makes
/// cheaper: the best of those that some greedy chains come to.
/// \param costs  of one device or more
/// \param work  ways looked at are added
/// Cost    O(devices^3) for each move; tens of microseconds among 16, hundreds among 32
/// Source  Or-opt with parts of any length: I. Or, Traveling salesman-type combinatorial problems
///         and their relation to the logistics of regional blood banking, 1976
std::vector<std::uint32_t> NearChain(const ChainCosts& costs, std::int64_t& work);

}  // namespace ringlet::plan
