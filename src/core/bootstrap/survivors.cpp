#include "bootstrap/survivors.hpp"

#include <algorithm>

#include "ringlet/status.hpp"

namespace ringlet::bootstrap {

Survivors::Survivors(std::uint32_t ranks, std::vector<std::uint32_t> left_out)
    : ranks_(ranks), left_out_(std::move(left_out)) {
  RINGLET_ASSERT(left_out_.empty() || left_out_.back() < ranks);
}

bool Survivors::IsLeftOut(std::uint32_t old_rank) const {
  return std::ranges::binary_search(left_out_, old_rank);
}

std::uint32_t Survivors::OldRank(std::uint32_t new_rank) const {
  RINGLET_ASSERT(new_rank < size());
  // left_out_[i] - i ranks remain before left_out_[i].
  std::uint32_t low = 0, high = static_cast<std::uint32_t>(left_out_.size());
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (left_out_[middle] - middle <= new_rank)
      low = middle + 1;
    else
      high = middle;
  }
  return new_rank + low;
}

std::vector<std::uint32_t> Survivors::OldRanks() const {
  std::vector<std::uint32_t> ranks;
  ranks.reserve(size());
  auto next = left_out_.begin();
  for (std::uint32_t rank = 0; rank < ranks_; ++rank)
    if (next != left_out_.end() && *next == rank)
      ++next;
    else
      ranks.push_back(rank);
  return ranks;
}

std::optional<std::uint32_t> Survivors::NewRank(std::uint32_t old_rank) const {
  const auto next = std::ranges::lower_bound(left_out_, old_rank);
  if (old_rank >= ranks_ || (next != left_out_.end() && *next == old_rank)) return std::nullopt;
  return old_rank - static_cast<std::uint32_t>(next - left_out_.begin());
}

}  // namespace ringlet::bootstrap
