// A linear program that grows: how much of each of many things fits together, and what room is
// worth.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

namespace ringlet::plan {

/// Maximises the sum of weight * amount over columns, while each row's sum of need * amount is at
/// most 1. Columns come one after the other; a row that no column had before costs nothing to add.
///
/// Numbers are kFluidOne-ths, rounded: the same on every machine, and near the optimum but not
/// exact. A caller that needs a proof takes the prices, which bound the optimum whatever they are.
///
/// Source  revised simplex method with an explicit inverse: V. Chvatal, Linear Programming, 1983
class LpMaster {
 public:
  /// One row of a column, in kFluidOne-ths.
  struct Need {
    std::uint32_t row = 0;
    std::int64_t amount = 0;
  };

  /// \return its number
  std::uint32_t AddRow();

  /// Takes a column in if that makes the sum more.
  /// \param weight  in kFluidOne-ths
  /// \return false if it does not, or hardly
  /// Cost    O(rows^2)
  bool Enter(std::uint32_t column, const std::vector<Need>& needs, std::int64_t weight);

  /// The price of room in each row; the sum of prices is about the optimum so far.
  const std::vector<std::int64_t>& prices() const { return prices_; }

  /// Multiplications so far, about.
  std::int64_t work() const { return work_; }

  /// Columns of which there is something, and how much.
  std::vector<std::pair<std::uint32_t, std::int64_t>> Amounts() const;

 private:
  bool Pivot(std::int64_t gain, std::uint32_t column);
  std::size_t Leaving() const;
  bool FillPivot(std::int64_t* pivot, std::int64_t by);
  template <std::int64_t (*kTimes)(std::int64_t, std::int64_t)>
  void TakeOff(std::size_t leaving, std::int64_t amount);
  std::int64_t* Inverse(std::size_t row) { return &inverse_[row * stride_]; }

  std::vector<std::int64_t> inverse_;  // [row][row]
  std::size_t stride_ = 0;             // of its rows
  std::vector<std::uint32_t> basis_;   // column by row
  std::vector<std::int64_t> amounts_;  // by row
  std::vector<std::int64_t> prices_;   // by row
  std::int64_t work_ = 0;
  std::vector<std::int64_t> direction_;  // of the column that enters, by row
  /// Of the row that pivots what is not 0.
  struct Filled {
    std::int64_t value = 0;
    std::size_t at = 0;
  };
  std::vector<Filled> filled_;
};

inline constexpr std::int64_t kFluidOne = std::int64_t{1} << 32;

}  // namespace ringlet::plan
