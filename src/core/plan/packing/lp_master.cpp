#include "plan/packing/lp_master.hpp"

#include <algorithm>
#include <limits>

namespace ringlet::plan {
namespace {

__extension__ using Wide = __int128;

constexpr std::uint32_t kSlack = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kHardly = kFluidOne >> 16;    // smaller gains are not worth a pivot
constexpr std::int64_t kPivotMin = kFluidOne >> 12;  // smaller pivots lose digits
constexpr std::size_t kRowsLikely = 32;
constexpr std::uint32_t kSlacksMax = 1'000;  // limit of slacks that enter again at once

std::int64_t Product(std::int64_t a, std::int64_t b) {
  const Wide product = Wide{a} * b;
  // Avoids a 128-bit shift, which is slow on some processors.
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(product >> 64) << 32) +
                                   (static_cast<std::uint64_t>(product) >> 32));
}

constexpr int kHalfShift = 16;  // of both factors; the product is then in the upper 64 bits
constexpr int kShiftableBits = 63 - kHalfShift;
std::int64_t ShiftedProduct(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(Wide{a} * b >> 64);
}
bool Shiftable(std::int64_t number) {
  return number >> kShiftableBits == number >> 63;
}

std::int64_t Quotient(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>((Wide{a} << 32) / b);
}

}  // namespace

std::uint32_t LpMaster::AddRow() {
  const std::size_t row = basis_.size();
  if (row == stride_) {
    const std::size_t stride = std::max(kRowsLikely, 2 * row);
    std::vector<std::int64_t> wider(stride * stride, 0);
    for (std::size_t one = 0; one < row; ++one)
      std::copy(Inverse(one), Inverse(one) + row, &wider[one * stride]);
    inverse_ = std::move(wider);
    stride_ = stride;
  }
  Inverse(row)[row] = kFluidOne;
  basis_.push_back(kSlack);
  // Amounts differ slightly from 1 and from each other. If rows filled up at once, pivots could
  // cycle.
  amounts_.push_back(kFluidOne +
                     (static_cast<std::int64_t>(row) * 7919 % 1009) * (kFluidOne >> 26));
  prices_.push_back(0);
  return static_cast<std::uint32_t>(row);
}

bool LpMaster::Enter(std::uint32_t column, const std::vector<Need>& needs, std::int64_t weight) {
  std::int64_t gain = weight;
  for (const Need& need : needs) gain -= Product(prices_[need.row], need.amount);
  if (gain <= kHardly) return false;
  direction_.assign(basis_.size(), 0);
  work_ += static_cast<std::int64_t>(basis_.size() * needs.size());
  for (std::size_t row = 0; row < basis_.size(); ++row) {
    const std::int64_t* const inverse = Inverse(row);
    for (const Need& need : needs)
      if (inverse[need.row] != 0) direction_[row] += Product(inverse[need.row], need.amount);
  }
  if (!Pivot(gain, column)) return false;
  for (std::uint32_t i = 0; i < kSlacksMax; ++i) {
    std::size_t worst = 0;
    for (std::size_t row = 1; row < prices_.size(); ++row)
      if (prices_[row] < prices_[worst]) worst = row;
    if (prices_[worst] >= -kHardly) break;
    for (std::size_t row = 0; row < basis_.size(); ++row) direction_[row] = Inverse(row)[worst];
    if (!Pivot(-prices_[worst], kSlack)) break;
  }
  return true;
}

/// The row that runs out of room first. Returns the number of rows if none does.
std::size_t LpMaster::Leaving() const {
  std::size_t leaving = basis_.size();
  for (std::size_t row = 0; row < basis_.size(); ++row) {
    if (direction_[row] < kPivotMin) continue;
    if (leaving < basis_.size() &&
        Wide{amounts_[row]} * direction_[leaving] >= Wide{amounts_[leaving]} * direction_[row])
      continue;
    leaving = row;
  }
  return leaving;
}

/// Divides the pivot row.
/// \return true if all its numbers are Shiftable
bool LpMaster::FillPivot(std::int64_t* pivot, std::int64_t by) {
  bool shiftable = true;
  filled_.clear();
  for (std::size_t i = 0; i < basis_.size(); ++i) {
    if (pivot[i] == 0) continue;
    pivot[i] = Quotient(pivot[i], by);
    shiftable = shiftable && Shiftable(pivot[i]);
    filled_.push_back({pivot[i], i});
  }
  return shiftable;
}

/// Subtracts the pivot row from all other rows, in proportion to their share of the column.
template <std::int64_t (*kTimes)(std::int64_t, std::int64_t)>
void LpMaster::TakeOff(std::size_t leaving, std::int64_t amount) {
  for (std::size_t row = 0; row < basis_.size(); ++row) {
    const std::int64_t times = direction_[row];
    if (row == leaving || times == 0) continue;
    std::int64_t* const one = Inverse(row);
    for (const Filled& filled : filled_) one[filled.at] -= kTimes(times, filled.value);
    amounts_[row] -= kTimes(times, amount);
    work_ += static_cast<std::int64_t>(filled_.size());
  }
}

/// Adds as much of a column as fits. The column that leaves no room for more drops out.
bool LpMaster::Pivot(std::int64_t gain, std::uint32_t column) {
  const std::size_t leaving = Leaving();
  if (leaving == basis_.size()) return false;
  const std::int64_t by = direction_[leaving];
  const bool shiftable = FillPivot(Inverse(leaving), by);
  const std::int64_t amount = Quotient(amounts_[leaving], by);
  work_ += static_cast<std::int64_t>(basis_.size() + filled_.size());
  for (const Filled& filled : filled_) prices_[filled.at] += Product(gain, filled.value);
  if (shiftable && Shiftable(amount) &&
      std::all_of(direction_.begin(), direction_.end(), Shiftable)) {
    for (std::int64_t& times : direction_) times <<= kHalfShift;
    for (Filled& filled : filled_) filled.value <<= kHalfShift;
    TakeOff<ShiftedProduct>(leaving, amount << kHalfShift);
  } else {
    TakeOff<Product>(leaving, amount);
  }
  amounts_[leaving] = amount;
  basis_[leaving] = column;
  return true;
}

std::vector<std::pair<std::uint32_t, std::int64_t>> LpMaster::Amounts() const {
  std::vector<std::pair<std::uint32_t, std::int64_t>> list;
  for (std::size_t row = 0; row < basis_.size(); ++row)
    if (basis_[row] != kSlack && amounts_[row] > 0) list.emplace_back(basis_[row], amounts_[row]);
  return list;
}

}  // namespace ringlet::plan
