// Chooses a number of whole channels that share links. Exchanges some for others if links overflow.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/packing/lp_master.hpp"
#include "plan/packing/simd_u16x8.hpp"

namespace ringlet::plan {

/// The available columns, and the use of each row by each column.
class Columns {
 public:
  using Needs = std::vector<LpMaster::Need>;  ///< in kCostUnits, each row once

  void Add(Needs needs);
  std::uint32_t count() const { return static_cast<std::uint32_t>(needs_.size()); }
  const Needs& of(std::uint32_t column) const { return needs_[column]; }

  std::size_t row_count() const { return rows_.size(); }
  /// The use of a row by each column, at most kLaneMax. stride() entries, 0 beyond the last column.
  const std::uint16_t* Row(std::size_t row) const { return rows_[row].data(); }
  std::size_t stride() const { return stride_; }
  /// A mask of kLanes columns: kLaneMax for each column that exists, otherwise 0.
  SimdU16x8 LaneMask(std::size_t lanes) const { return Load(&those_[lanes * kLanes]); }
  /// The largest use of a row by any column.
  std::uint16_t MostOf(std::size_t row) const { return most_[row]; }

 private:
  std::vector<Needs> needs_;
  std::size_t stride_ = 0;                        // a multiple of kLanes
  std::vector<std::vector<std::uint16_t>> rows_;  // [row][column]
  std::vector<std::uint16_t> most_;               // by row
  std::vector<std::uint16_t> those_;              // by column: kLaneMax or 0, see LaneMask()
};

/// The number of channels of each column, and their load on each row.
///
/// Fit() exchanges a channel of one column for a channel of another if that reduces the overflow of
/// rows most. If no exchange helps, the weight of each overflowing row grows until one does.
/// Source  weights of unsatisfied clauses: P. Morris, The breakout method for escaping from local
///         minima, 1993
class IntegerRounding {
 public:
  /// \param columns  must outlive this object; may grow
  explicit IntegerRounding(const Columns& columns) : columns_(&columns) {}

  void Put(std::uint32_t column, std::int64_t times);
  /// Adds `times` channels, each of the column that overflows `room` least, then leaves most room.
  void AddBest(std::uint32_t times, const std::vector<std::int64_t>& room);

  /// The load, weight and room of each row before an exchange.
  struct Rows {
    const std::vector<std::int64_t>& loads;
    const std::vector<std::int64_t>& weights;
    const std::vector<std::int64_t>& room;
  };
  /// Finds a further column that overflows less than the existing ones.
  struct More {
    std::function<bool()> may;  ///< true if a search is allowed
    /// \return the room of all rows if a column was added, otherwise null
    std::function<const std::vector<std::int64_t>*(const Rows& rows)> find;
  };

  /// Exchanges channels until no row exceeds its room.
  /// \param work_max  limit of needs to visit, in vectors of kLanes
  /// \param work  the function adds its work
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
  std::uint32_t BestColumnToAdd(const std::vector<std::int64_t>& room,
                                const std::vector<std::int64_t>& parts) const;
  bool Overflows(const std::vector<std::int64_t>& room) const;
  std::uint32_t NextOverflowingColumn(const std::vector<std::int64_t>& room);
  Exchange BestExchange(const std::vector<std::int64_t>& room, std::int64_t& work);
  void AddWeight(std::size_t row);
  void FindTight(const std::vector<std::int64_t>& room);
  Exchange BestReplacement(std::uint32_t from, std::int64_t& work);

  const Columns* columns_;
  std::vector<std::uint32_t> counts_;  // by column
  std::vector<std::int64_t> loads_;    // by row
  std::vector<std::int64_t> weights_;  // by row
  std::uint32_t turn_ = 0;             // the column that NextOverflowingColumn() returned last
  /// A row that some column can overflow.
  struct Tight {
    std::int64_t left;
    std::int64_t weight;
    const std::uint16_t* needs;     ///< by column
    const std::uint16_t* weighted;  ///< needs times the weight
    SimdU16x8 room;  ///< the remaining room without one column, times the weight, in all lanes
  };
  std::vector<Tight> tight_;
  std::size_t overflowing_ = 0;  // number of overflowing rows; these are the first of tight_
  std::vector<std::vector<std::uint16_t>> weighted_;  // [row][column], for weights above 1
  std::vector<std::uint16_t> left_;                   // by column: kLaneMax minus the overflow
};

}  // namespace ringlet::plan
