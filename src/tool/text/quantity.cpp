#include "tool/text/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/value/text.hpp"

namespace ringlet::cli {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t size;
};
constexpr std::array kTimes{Unit{"ns", 1}, Unit{"us", 1000}, Unit{"ms", 1'000'000},
                            Unit{"s", 1'000'000'000}, Unit{"min", 60'000'000'000}};
constexpr std::uint64_t kTimeMax = std::uint64_t{1000} * 3600 * 1'000'000'000;

// in bytes per second
constexpr std::array kBandwidths{Unit{"Mb/s", 125'000},   Unit{"Gb/s", 125'000'000},
                                 Unit{"Mbit", 125'000},   Unit{"Gbit", 125'000'000},
                                 Unit{"MB/s", 1'000'000}, Unit{"GB/s", 1'000'000'000}};
constexpr std::uint64_t kBandwidthMax = 1'000'000'000'000;

// Returns `number` times `unit` for a decimal number with at most nine decimals.
std::optional<std::uint64_t> Scaled(std::string_view number, std::uint64_t unit,
                                    std::uint64_t most) {
  constexpr std::size_t kPlacesMax = 9;
  const std::size_t point = std::min(number.find('.'), number.size());
  const std::string_view behind = number.substr(std::min(point + 1, number.size()));
  const auto whole = ParseDecimal(number.substr(0, point));
  if (!whole || behind.size() > kPlacesMax || *whole > most / unit) return std::nullopt;
  if (behind.empty()) return point == number.size() ? std::optional(*whole * unit) : std::nullopt;
  const auto part = ParseDecimal(behind);
  if (!part) return std::nullopt;
  std::uint64_t places = 1;
  for (std::size_t i = 0; i < behind.size(); ++i) places *= 10;
  // Splits the unit, because the product of a fraction and a minute exceeds 64 bits.
  const std::uint64_t scaled = *part * (unit / places) + *part * (unit % places) / places;
  return *whole * unit + scaled;
}

template <std::size_t kCount>
std::optional<std::uint64_t> Parse(std::string_view text, const std::array<Unit, kCount>& units,
                                   std::uint64_t most) {
  if (text == "0") return 0;
  const std::size_t end = text.find_first_not_of("0123456789.");
  if (end == std::string_view::npos) return std::nullopt;
  for (const Unit& unit : units)
    if (Trim(text.substr(end)) == unit.name) {
      const auto value = Scaled(text.substr(0, end), unit.size, most);
      return value && *value <= most ? value : std::nullopt;
    }
  return std::nullopt;
}

}  // namespace

Result<Instant> ParseDuration(std::string_view text) {
  if (const auto value = Parse(text, kTimes, kTimeMax))
    return Instant(static_cast<std::int64_t>(*value));
  return Error{
      Code::kInvalidArgument,
      fmt::format("{} is not a time; write 20us, 1.5ms, 2s, at most 1000 hours", Quoted(text))};
}

Result<std::uint64_t> ParseBandwidth(std::string_view text) {
  const auto value = Parse(text, kBandwidths, kBandwidthMax);
  if (value && (*value == 0 || *value >= 1'000'000)) return *value / 1'000'000;
  return Error{Code::kInvalidArgument,
               fmt::format("{} is not a bandwidth; write 10Gb/s (bits) or 1250MB/s (bytes), from 1 "
                           "MB/s to 1000 GB/s, or 0 for unlimited",
                           Quoted(text))};
}

Result<double> ParseProbability(std::string_view text) {
  constexpr std::uint64_t kOne = 1'000'000'000;
  if (const auto value = Scaled(text, kOne, kOne); value && *value <= kOne)
    return static_cast<double>(*value) / static_cast<double>(kOne);
  return Error{Code::kInvalidArgument,
               fmt::format("{} is not a probability; write a number from 0 to 1", Quoted(text))};
}

std::string DurationText(Instant time) {
  const auto ns = static_cast<double>(time.count());
  const auto [value, unit] = ns >= 1e9   ? std::pair(ns / 1e9, "s")
                             : ns >= 1e6 ? std::pair(ns / 1e6, "ms")
                                         : std::pair(ns / 1e3, "us");
  return fmt::format("{:.4g} {}", value, unit);
}

}  // namespace ringlet::cli
