#include "topology/xml/nccl_number.hpp"

#include <algorithm>
#include <charconv>

namespace ringlet::topology {
namespace {

constexpr std::uint64_t kMagnitudeMax = std::uint64_t{1} << 53;
constexpr std::uint64_t kNanosecondsMax = 4'000'000'000;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

NcclNumber ParseNcclNumber(std::string_view text) {
  std::string_view rest = text;
  while (rest.starts_with(' ') || rest.starts_with('\t')) rest.remove_prefix(1);
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  int base = 10;
  bool octal = false;
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    base = 16;
    rest.remove_prefix(2);
  } else if (rest.size() > 1 && rest[0] == '0' && IsDigit(rest[1])) {
    base = 8;
    octal = true;
  }
  std::uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), magnitude, base);
  if (error == std::errc::invalid_argument) return {};
  if (error == std::errc::result_out_of_range || magnitude > kMagnitudeMax)
    magnitude = kMagnitudeMax;
  const auto value = static_cast<std::int64_t>(magnitude);
  const bool differs = octal && (value > 7 || end != rest.data() + rest.size());
  return {negative ? -value : value, end == rest.data() + rest.size(), differs};
}

std::optional<std::uint64_t> ParseHex64(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

std::optional<std::uint32_t> ParseMicroseconds(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, dot);
  const std::string_view part = text.substr(std::min(dot + 1, text.size()));
  if (whole.empty() || !std::all_of(whole.begin(), whole.end(), IsDigit) ||
      !std::all_of(part.begin(), part.end(), IsDigit))
    return std::nullopt;
  std::uint64_t ns = 0;
  for (const char digit : whole) {
    ns = ns * 10 + static_cast<std::uint64_t>(digit - '0');
    if (ns > kNanosecondsMax) return std::nullopt;
  }
  for (std::size_t i = 0; i < 3; ++i)
    ns = ns * 10 + (i < part.size() ? static_cast<std::uint64_t>(part[i] - '0') : 0);
  if (ns > kNanosecondsMax) return std::nullopt;
  return static_cast<std::uint32_t>(ns);
}

}  // namespace ringlet::topology
