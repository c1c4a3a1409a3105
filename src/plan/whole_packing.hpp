// So many channels, each whole, of orders that share links: where links overflow, one is exchanged
// for another.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "plan/fluid_packing.hpp"

namespace ringlet::plan {

/// How many there are of each column, and what they take of each row.
///
/// Fit exchanges one of a column for one of another, whichever makes the overflow of rows least.
/// Where no exchange helps, rows that overflow count for more, until one does.
/// Source  weights of unsatisfied clauses: P. Morris, The breakout method for escaping from local
///         minima, 1993
class WholePacking {
 public:
  using Needs = std::vector<FluidPacking::Need>;  ///< in kCostUnits, each row once

  /// \param columns  outlive this; more may come
  explicit WholePacking(const std::vector<Needs>& columns) : columns_(&columns) {}

  void Put(std::uint32_t column, std::int64_t times);
  /// One more, of the column that overflows `room` least, and leaves most.
  void AddBest(const std::vector<std::int64_t>& room);

  /// What a row takes, and what it counts, when one of a column is to be exchanged.
  struct Rows {
    const std::vector<std::int64_t>& loads;
    const std::vector<std::int64_t>& weights;
    const std::vector<std::int64_t>& room;
  };
  /// Looks for a column that overflows less than those there are.
  /// \return rooms of all rows if there is one more now, else nothing
  using More = std::function<const std::vector<std::int64_t>*(const Rows& rows)>;

  /// Exchanges until no row takes more than its room.
  /// \param work_max  of needs looked at, about
  /// \param work  what is done is added
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
  bool Overflows(const std::vector<std::int64_t>& room) const;
  std::uint32_t NextCrowding(const std::vector<std::int64_t>& room);
  Exchange BestExchange(const std::vector<std::int64_t>& room, std::int64_t& work);

  const std::vector<Needs>* columns_;
  std::vector<std::uint32_t> counts_;  // by column
  std::vector<std::int64_t> loads_;    // by row
  std::vector<std::int64_t> weights_;  // by row
  std::uint32_t turn_ = 0;             // column
};

}  // namespace ringlet::plan
