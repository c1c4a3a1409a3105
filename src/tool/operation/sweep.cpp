#include "tool/operation/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/value/text.hpp"
#include "tool/operation/size_units.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kSizeMax = std::size_t{1} << 40;  // exceeds the memory of all machines

// With fewer repeats, the 99th percentile is the maximum. More would make large sizes take minutes.
constexpr std::uint32_t kRepeatsMin = 5;
constexpr std::uint32_t kSweepRepeatsMax = 2000;
// Reading the clock takes about 30 ns, which is a hundredth of this.
constexpr Instant kIterationMin = std::chrono::microseconds(3);
// Ten turns of 8 ranks on 2 cores (docs/decisions/0031).
constexpr Instant kIterationMinSharing = std::chrono::microseconds(500);
constexpr std::uint32_t kBatchMax = 2000;

struct SizeUnit {
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array kSizeUnits = {
    SizeUnit{"", 1},
    SizeUnit{"B", 1},
    SizeUnit{"K", std::size_t{1} << 10},
    SizeUnit{"M", std::size_t{1} << 20},
    SizeUnit{"G", std::size_t{1} << 30},
    SizeUnit{"KiB", std::size_t{1} << 10},
    SizeUnit{"MiB", std::size_t{1} << 20},
    SizeUnit{"GiB", std::size_t{1} << 30},
    SizeUnit{"kB", 1'000},
    SizeUnit{"MB", 1'000'000},
    SizeUnit{"GB", 1'000'000'000},
};

/// Returns the bytes of a unit in either case; 0 for an unknown unit.
std::size_t BytesOf(std::string_view unit) {
  for (const SizeUnit& one : kSizeUnits)
    if (EqualIgnoringCase(unit, one.name)) return one.bytes;
  return 0;
}

}  // namespace

Result<std::size_t> ParseSize(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::size_t unit = BytesOf(text.substr(end));
  const auto number = ParseDecimal(text.substr(0, end));
  if (!number || unit == 0 || *number > kSizeMax / unit)
    return Error{Code::kInvalidArgument,
                 fmt::format("\"{}\" is not a size; write a whole number of bytes, at most 1024G, "
                             "with or without a unit: {}",
                             text, kSizeUnitsHelp)};
  return static_cast<std::size_t>(*number) * unit;
}

Result<std::vector<std::size_t>> Counts(const SweepRange& range, DataType type) {
  if (range.factor < 2)
    return Error{Code::kInvalidArgument, "the factor between sizes must be at least 2"};
  if (range.min_bytes == 0 || range.min_bytes > range.max_bytes)
    return Error{Code::kInvalidArgument,
                 fmt::format("the range of {} to {} bytes is empty; the smallest size must be "
                             "above 0 and not above the largest",
                             range.min_bytes, range.max_bytes)};
  std::vector<std::size_t> counts;
  for (std::size_t bytes = range.min_bytes; bytes <= range.max_bytes; bytes *= range.factor) {
    const std::size_t count = std::max<std::size_t>(bytes / SizeOf(type), 1);
    if (counts.empty() || counts.back() != count) counts.push_back(count);
  }
  return counts;
}

std::uint32_t RepeatsFor(Instant once, Instant budget) {
  const auto fitting = static_cast<std::uint64_t>(budget / std::max(once, Instant(1)));
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(fitting, kRepeatsMin, kSweepRepeatsMax));
}

Instant IterationMin(bool shares_cores) {
  return shares_cores ? kIterationMinSharing : kIterationMin;
}

std::uint32_t BatchFor(Instant once, bool shares_cores) {
  const auto fitting =
      static_cast<std::uint64_t>(IterationMin(shares_cores) / std::max(once, Instant(1)));
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(fitting, 1, kBatchMax));
}

Timing Summarize(const std::vector<std::vector<Instant>>& by_rank) {
  std::vector<Instant> slowest = by_rank.front();
  for (const std::vector<Instant>& rank : by_rank)
    for (std::size_t i = 0; i < slowest.size(); ++i) slowest[i] = std::max(slowest[i], rank[i]);
  std::ranges::sort(slowest);
  const auto at = [&](std::size_t percent) {  // nearest-rank method
    const std::size_t position = (percent * slowest.size() + 99) / 100;
    return std::chrono::duration<double, std::micro>(slowest[position - 1]).count();
  };
  return {.median_us = at(50), .p99_us = at(99)};
}

}  // namespace ringlet::cli
