#include "plan/fluid_packing.hpp"

#include <algorithm>
#include <limits>

namespace ringlet::plan {
namespace {

__extension__ using Wide = __int128;

constexpr std::uint32_t kSlack = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kHardly = kFluidOne >> 16;    // gains that are not worth a pivot
constexpr std::int64_t kPivotMin = kFluidOne >> 12;  // smaller ones lose digits
constexpr std::size_t kRowsLikely = 64;
constexpr std::uint32_t kSlacksMax = 1'000;  // that may enter again at once

std::int64_t Product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(Wide{a} * b >> 32);
}
std::int64_t Quotient(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>((Wide{a} << 32) / b);
}

}  // namespace

std::uint32_t FluidPacking::AddRow() {
  const auto row = static_cast<std::uint32_t>(basis_.size());
  for (std::vector<std::int64_t>& one : inverse_) one.push_back(0);
  inverse_.emplace_back().reserve(std::max<std::size_t>(kRowsLikely, row + 1));
  inverse_.back().resize(row + 1, 0);
  inverse_.back().back() = kFluidOne;
  basis_.push_back(kSlack);
  // Not quite 1, each otherwise: rows that fill up at once would let pivots go round in circles.
  amounts_.push_back(kFluidOne + (std::int64_t{row} * 7919 % 1009) * (kFluidOne >> 26));
  prices_.push_back(0);
  return row;
}

bool FluidPacking::Enter(std::uint32_t column, const std::vector<Need>& needs,
                         std::int64_t weight) {
  std::int64_t gain = weight;
  for (const Need& need : needs) gain -= Product(prices_[need.row], need.amount);
  if (gain <= kHardly) return false;
  direction_.assign(basis_.size(), 0);
  work_ += static_cast<std::int64_t>(basis_.size() * needs.size());
  for (std::size_t row = 0; row < basis_.size(); ++row)
    for (const Need& need : needs)
      if (inverse_[row][need.row] != 0)
        direction_[row] += Product(inverse_[row][need.row], need.amount);
  if (!Pivot(gain, column)) return false;
  for (std::uint32_t i = 0; i < kSlacksMax; ++i) {
    std::size_t worst = 0;
    for (std::size_t row = 1; row < prices_.size(); ++row)
      if (prices_[row] < prices_[worst]) worst = row;
    if (prices_[worst] >= -kHardly) break;
    for (std::size_t row = 0; row < basis_.size(); ++row) direction_[row] = inverse_[row][worst];
    if (!Pivot(-prices_[worst], kSlack)) break;
  }
  return true;
}

/// Takes in as much of a column as there is room for; what leaves no room goes.
bool FluidPacking::Pivot(std::int64_t gain, std::uint32_t column) {
  std::size_t leaving = basis_.size();
  for (std::size_t row = 0; row < basis_.size(); ++row) {
    if (direction_[row] < kPivotMin) continue;
    if (leaving < basis_.size() &&
        Wide{amounts_[row]} * direction_[leaving] >= Wide{amounts_[leaving]} * direction_[row])
      continue;
    leaving = row;
  }
  if (leaving == basis_.size()) return false;
  const std::int64_t by = direction_[leaving];
  std::vector<std::int64_t>& pivot = inverse_[leaving];
  filled_.clear();
  for (std::uint32_t i = 0; i < pivot.size(); ++i) {
    if (pivot[i] == 0) continue;
    pivot[i] = Quotient(pivot[i], by);
    filled_.push_back(i);
  }
  const std::int64_t amount = Quotient(amounts_[leaving], by);
  work_ += static_cast<std::int64_t>(basis_.size() + filled_.size());
  for (std::size_t row = 0; row < basis_.size(); ++row) {
    if (row == leaving || direction_[row] == 0) continue;
    std::int64_t* const one = inverse_[row].data();
    for (const std::uint32_t i : filled_) one[i] -= Product(direction_[row], pivot[i]);
    amounts_[row] -= Product(direction_[row], amount);
    work_ += static_cast<std::int64_t>(filled_.size());
  }
  for (const std::uint32_t i : filled_) prices_[i] += Product(gain, pivot[i]);
  amounts_[leaving] = amount;
  basis_[leaving] = column;
  return true;
}

std::vector<std::pair<std::uint32_t, std::int64_t>> FluidPacking::Amounts() const {
  std::vector<std::pair<std::uint32_t, std::int64_t>> list;
  for (std::size_t row = 0; row < basis_.size(); ++row)
    if (basis_[row] != kSlack && amounts_[row] > 0) list.emplace_back(basis_[row], amounts_[row]);
  return list;
}

}  // namespace ringlet::plan
