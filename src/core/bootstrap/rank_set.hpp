// A set of ranks as a sorted list: small, and cheap to copy, compare and send.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace ringlet::bootstrap {

class RankSet {
 public:
  RankSet() = default;
  RankSet(std::initializer_list<std::uint32_t> ranks) {
    for (const std::uint32_t rank : ranks) Insert(rank);
  }

  /// Ascending, each once.
  const std::vector<std::uint32_t>& ranks() const { return ranks_; }
  bool Contains(std::uint32_t rank) const { return std::ranges::binary_search(ranks_, rank); }
  void Insert(std::uint32_t rank) {
    const auto at = std::ranges::lower_bound(ranks_, rank);
    if (at == ranks_.end() || *at != rank) ranks_.insert(at, rank);
  }
  /// Inserts all of `others`, and returns those that were not in the set. \param others  ascending
  /// Cost  O(size + others)
  std::vector<std::uint32_t> Merge(const std::vector<std::uint32_t>& others) {
    std::vector<std::uint32_t> added;
    if (others == ranks_) return added;
    std::ranges::set_difference(others, ranks_, std::back_inserter(added));
    const auto middle = static_cast<std::ptrdiff_t>(ranks_.size());
    ranks_.insert(ranks_.end(), added.begin(), added.end());
    std::ranges::inplace_merge(ranks_, ranks_.begin() + middle);
    return added;
  }

 private:
  std::vector<std::uint32_t> ranks_;
};

}  // namespace ringlet::bootstrap
