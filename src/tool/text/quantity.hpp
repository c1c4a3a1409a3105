// Numbers with units as people type them: times and bandwidths. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/wire/machine.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

/// Parses "20us", "1.5ms", "2s", "100ns", "1min"; "0" needs no unit. At most 1000 hours.
/// Errors  kInvalidArgument  quotes the text.
Result<Instant> ParseDuration(std::string_view text);

/// Parses "10Gb/s" or "10Gbit" (bits), "1250MB/s" (bytes), or "0" for unlimited. Returns MB/s of a
/// million bytes. Errors  kInvalidArgument  quotes the text; less than 1 MB/s or more than 1 TB/s.
Result<std::uint64_t> ParseBandwidth(std::string_view text);

/// Parses "0.25", at most 1. Errors  kInvalidArgument  quotes the text.
Result<double> ParseProbability(std::string_view text);

/// Formats a time with about four digits: "37 us", "1.25 ms", "12.4 s".
std::string DurationText(Instant time);

}  // namespace ringlet::cli
