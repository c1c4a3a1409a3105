// The ranks of a group that remain after some ranks were left out, and their new numbers.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace ringlet::bootstrap {

/// Numbers the remaining ranks from 0, in their old order. It stores only the ranks that were left
/// out, so its size does not depend on the size of the group.
class Survivors {
 public:
  /// \param ranks     size of the group
  /// \param left_out  ranks of the group, ascending, each once
  Survivors(std::uint32_t ranks, std::vector<std::uint32_t> left_out);

  std::uint32_t size() const { return ranks_ - static_cast<std::uint32_t>(left_out_.size()); }
  const std::vector<std::uint32_t>& left_out() const { return left_out_; }
  bool IsLeftOut(std::uint32_t old_rank) const;

  /// \pre   new_rank < size()
  /// Cost   O(log of the ranks left out), like NewRank and IsLeftOut
  std::uint32_t OldRank(std::uint32_t new_rank) const;
  /// The old rank of each, by new rank. Cost  O(size)
  std::vector<std::uint32_t> OldRanks() const;
  /// Returns empty for a rank that was left out or is not in the group.
  std::optional<std::uint32_t> NewRank(std::uint32_t old_rank) const;

 private:
  std::uint32_t ranks_;
  std::vector<std::uint32_t> left_out_;
};

}  // namespace ringlet::bootstrap
