// So many channels, each whole, of orders that share links: where links overflow, one is exchanged
// for another.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/packing/lp_master.hpp"
#include "plan/packing/simd_u16x8.hpp"

namespace ringlet::plan {

/// The columns to choose from, and the use of each row by one of them.
class Columns {
 public:
  using Needs = std::vector<LpMaster::Need>;  ///< in kCostUnits, each row once

  void Add(Needs needs);
  std::uint32_t count() const { return static_cast<std::uint32_t>(needs_.size()); }
  const Needs& of(std::uint32_t column) const { return needs_[column]; }

  std::size_t row_count() const { return rows_.size(); }
  /// The use of a row, by column, `stride` of them; 0 beyond the last. No more than kLaneMax.
  const std::uint16_t* Row(std::size_t row) const { return rows_[row].data(); }
  std::size_t stride() const { return stride_; }
  /// kLaneMax for those there are, kLanes of them.
  SimdU16x8 Those(std::size_t lanes) const { return Load(&those_[lanes * kLanes]); }
  /// Of all columns.
  std::uint16_t MostOf(std::size_t row) const { return most_[row]; }

 private:
  std::vector<Needs> needs_;
  std::size_t stride_ = 0;                        // whole lanes
  std::vector<std::vector<std::uint16_t>> rows_;  // [row][column]
  std::vector<std::uint16_t> most_;               // by row
  std::vector<std::uint16_t> those_;              // by column
};

/// How many there are of each column, and what they take of each row.
///
/// Fit exchanges one of a column for one of another, whichever makes the overflow of rows least.
/// If no exchange helps, rows that overflow count for more, until one does.
/// Source  weights of unsatisfied clauses: P. Morris, The breakout method for escaping from local
///         minima, 1993
class IntegerRounding {
 public:
  /// \param columns  outlive this; more may come
  explicit IntegerRounding(const Columns& columns) : columns_(&columns) {}

  void Put(std::uint32_t column, std::int64_t times);
  /// So many more, each of the column that overflows `room` least, and leaves most.
  void AddBest(std::uint32_t times, const std::vector<std::int64_t>& room);

  /// The use of a row, and its weight, when one of a column is to be exchanged.
  struct Rows {
    const std::vector<std::int64_t>& loads;
    const std::vector<std::int64_t>& weights;
    const std::vector<std::int64_t>& room;
  };
  /// Looks for a column that overflows less than those there are.
  struct More {
    std::function<bool()> may;  ///< whether it does
    /// \return rooms of all rows if there is one more now, else nothing
    std::function<const std::vector<std::int64_t>*(const Rows& rows)> find;
  };

  /// Exchanges until no row takes more than its room.
  /// \param work_max  of needs looked at, kLanes at once
  /// \param work the work done is added
  bool Fit(const std::vector<std::int64_t>& room, std::int64_t work_max, const More& more,
           std::int64_t& work);

  const std::vector<std::uint32_t>& counts() const { return counts_; }
  const std::vector<std::int64_t>& loads() const { return loads_; }

 private:
  struct Exchange {
    std::int64_t gain = 0;
    std::uint32_t from = 0, to = 0;
  };

  void Grow(std::size_t rows);
  std::uint32_t BestToAdd(const std::vector<std::int64_t>& room,
                          const std::vector<std::int64_t>& parts) const;
  bool Overflows(const std::vector<std::int64_t>& room) const;
  std::uint32_t NextCrowding(const std::vector<std::int64_t>& room);
  Exchange BestExchange(const std::vector<std::int64_t>& room, std::int64_t& work);
  void AddWeight(std::size_t row);
  void FindTight(const std::vector<std::int64_t>& room);
  Exchange BestInstead(std::uint32_t from, std::int64_t& work);

  const Columns* columns_;
  std::vector<std::uint32_t> counts_;  // by column
  std::vector<std::int64_t> loads_;    // by row
  std::vector<std::int64_t> weights_;  // by row
  std::uint32_t turn_ = 0;             // column
  /// A row that some column may overflow.
  struct Tight {
    std::int64_t left;
    std::int64_t weight;
    const std::uint16_t* needs;     ///< by column
    const std::uint16_t* weighted;  ///< times the weight
    SimdU16x8 room;  ///< that is left without one column, in all lanes, times the weight
  };
  std::vector<Tight> tight_;
  std::size_t overflowing_ = 0;                       // of these, the first
  std::vector<std::vector<std::uint16_t>> weighted_;  // [row][column], of rows that weigh more
  std::vector<std::uint16_t> left_;                   // by column: kLaneMax but for what overflows
};

}  // namespace ringlet::plan
