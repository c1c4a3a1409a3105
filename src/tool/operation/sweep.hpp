// Selects the sizes and repeats of a benchmark and summarizes its times. Pure.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::cli {

/// Parses "8", "64K", "2G": whole numbers with K, M and G in either case, as powers of 1024.
/// Errors  kInvalidArgument  quotes the text.
Result<std::size_t> ParseSize(std::string_view text);

struct SweepRange {
  std::size_t min_bytes = 8;
  std::size_t max_bytes = std::size_t{64} << 20;
  std::uint32_t factor = 2;  ///< at least 2
};

/// Returns distinct, ascending element counts from min_bytes to max_bytes, each at least one.
/// Errors  kInvalidArgument  the range is empty, or the factor is below 2.
Result<std::vector<std::size_t>> Counts(const SweepRange& range, DataType type);

/// Returns the number of repeats of a run that takes `once`. They take about `budget`, within fixed
/// limits, so that results are exact and the whole sweep is short.
std::uint32_t RepeatsFor(Instant once, Instant budget);

/// Returns the number of operations in one iteration. It is more than one for operations so short
/// that reading the clock would distort them. The iteration then takes some microseconds.
/// \param shares_cores  ranks take turns on cores. An iteration then spans several turns of all
///                 ranks, because the time of one operation would be the time of a turn.
std::uint32_t BatchFor(Instant once, bool shares_cores);
/// Returns the minimum duration of an iteration with several operations.
Instant IterationMin(bool shares_cores);

/// Times of the iterations of one size.
struct Timing {
  double median_us = 0;
  double p99_us = 0;
};

/// Summarizes iterations. Each takes as long as its slowest rank.
/// \param by_rank  durations of all iterations per rank, at least one, the same number for all
///                 ranks
Timing Summarize(const std::vector<std::vector<Instant>>& by_rank);

}  // namespace ringlet::cli
