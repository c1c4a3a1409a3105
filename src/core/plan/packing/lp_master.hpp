// A linear program that grows by columns. Computes the amounts of columns that fit together, and
// the price of room in each row.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace ringlet::plan {

/// Maximises the sum of weight * amount over columns, where each row's sum of need * amount is at
/// most
/// 1. Columns arrive one by one. A row that no earlier column uses costs nothing to add.
///
/// Numbers are multiples of 1/kFluidOne, rounded. They are the same on every machine, and near the
/// optimum but not exact. Callers that need a proof use the prices. Any prices bound the optimum.
///
/// Source  revised simplex method with an explicit inverse: V. Chvatal, Linear Programming, 1983
class LpMaster {
 public:
  /// One row of a column, in units of 1/kFluidOne.
  struct Need {
    std::uint32_t row = 0;
    std::int64_t amount = 0;
  };

  /// \return the number of the row
  std::uint32_t AddRow();

  /// Adds a column if that increases the sum.
  /// \param weight  in units of 1/kFluidOne
  /// \return false if the column increases the sum by nothing or very little
  /// Cost    O(rows^2)
  bool Enter(std::uint32_t column, const std::vector<Need>& needs, std::int64_t weight);

  /// The price of room in each row. The sum of prices approximates the current optimum.
  const std::vector<std::int64_t>& prices() const { return prices_; }

  /// Approximate number of multiplications so far.
  std::int64_t work() const { return work_; }

  /// The columns with a positive amount, and the amount.
  std::vector<std::pair<std::uint32_t, std::int64_t>> Amounts() const;

 private:
  bool Pivot(std::int64_t gain, std::uint32_t column);
  std::size_t Leaving() const;
  bool FillPivot(std::int64_t* pivot, std::int64_t by);
  template <std::int64_t (*kTimes)(std::int64_t, std::int64_t)>
  void TakeOff(std::size_t leaving, std::int64_t amount);
  std::int64_t* Inverse(std::size_t row) { return &inverse_[row * stride_]; }

  std::vector<std::int64_t> inverse_;  // [row][row], with stride_ entries per row
  std::size_t stride_ = 0;             // row length of inverse_
  std::vector<std::uint32_t> basis_;   // column by row
  std::vector<std::int64_t> amounts_;  // by row
  std::vector<std::int64_t> prices_;   // by row
  std::int64_t work_ = 0;
  std::vector<std::int64_t> direction_;  // of the entering column, by row
  /// An entry of the pivot row that is not 0.
  struct Filled {
    std::int64_t value = 0;
    std::size_t at = 0;
  };
  std::vector<Filled> filled_;
};

inline constexpr std::int64_t kFluidOne = std::int64_t{1} << 32;

}  // namespace ringlet::plan
