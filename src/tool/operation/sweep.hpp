// Which sizes a benchmark runs, how often, and what its times amount to. Pure.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::cli {

/// Reads "8", "64K", "2G": whole numbers; K, M and G are 1024 and its powers, in either case.
/// Errors  kInvalidArgument  quotes the text.
Result<std::size_t> ParseSize(std::string_view text);

struct SweepRange {
  std::size_t min_bytes = 8;
  std::size_t max_bytes = std::size_t{64} << 20;
  std::uint32_t factor = 2;  ///< at least 2
};

/// Element counts from min_bytes to max_bytes, ascending, each once, at least one element each.
/// Errors  kInvalidArgument  a range that holds nothing, or a factor below 2.
Result<std::vector<std::size_t>> Counts(const SweepRange& range, DataType type);

/// How often to run something that takes `once`, so that it is measured well and the whole sweep
/// stays short: for about `budget`, within fixed limits.
std::uint32_t RepeatsFor(Instant once, Instant budget);

/// How many operations one iteration is: one, or, where it is so short that reading the clock would
/// count, as many as take some microseconds.
/// \param shares_cores  ranks take turns on cores: then as many as take several turns of all, since
///                      the time of one is that of a turn on some rank, whatever the ranks got done
std::uint32_t BatchFor(Instant once, bool shares_cores);
/// The least that an iteration takes, unless it is one operation.
Instant IterationMin(bool shares_cores);

/// The times of the iterations of one size.
struct Timing {
  double median_us = 0;
  double p99_us = 0;
};

/// An iteration takes as long as its slowest rank.
/// \param by_rank  of each rank the duration of every iteration, all of the same length, at least 1
Timing Summarize(const std::vector<std::vector<Instant>>& by_rank);

}  // namespace ringlet::cli
