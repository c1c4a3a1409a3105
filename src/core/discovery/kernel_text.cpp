#include "discovery/kernel_text.hpp"

#include "base/value/text.hpp"

namespace ringlet::discovery {
namespace {

/// Removes the first line of `rest`; empty at the end.
std::optional<std::string_view> TakeLine(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

std::uint32_t NumberAt(std::string_view text, std::string_view key) {
  const std::optional<std::string_view> value = FindValue(text, key);
  const auto number = value ? ParseUnsigned(*value) : std::nullopt;
  return number && *number <= ~std::uint32_t{0} ? static_cast<std::uint32_t>(*number) : 0;
}

std::string TextAt(std::string_view text, std::string_view key) {
  return std::string(
      FindValue(text, key).value_or("").substr(0, topology::HostView::kNameBytesMax));
}

}  // namespace

std::optional<std::string_view> FindValue(std::string_view text, std::string_view key) {
  while (const std::optional<std::string_view> line = TakeLine(text)) {
    const std::size_t colon = line->find(':');
    if (colon == std::string_view::npos || Trim(line->substr(0, colon)) != key) continue;
    return Trim(line->substr(colon + 1));
  }
  return std::nullopt;
}

topology::CpuModel ParseCpuInfo(std::string_view text) {
  topology::CpuModel cpu;
  if (FindValue(text, "vendor_id")) {
    cpu.arch = "x86_64";
    cpu.vendor = TextAt(text, "vendor_id");
    cpu.family = NumberAt(text, "cpu family");
    cpu.model = NumberAt(text, "model");
    cpu.name = TextAt(text, "model name");
  } else if (FindValue(text, "CPU implementer")) {
    cpu.arch = "arm64";
    cpu.vendor = TextAt(text, "CPU implementer");
    cpu.family = NumberAt(text, "CPU architecture");
    cpu.model = NumberAt(text, "CPU part");
    cpu.name = TextAt(text, "model name");
  } else if (TextAt(text, "cpu").starts_with("POWER")) {
    cpu.arch = "ppc64";
    cpu.vendor = "IBM";
    cpu.name = TextAt(text, "cpu");
  }
  return cpu;
}

std::uint32_t CountCpus(std::string_view cpuinfo) {
  std::uint32_t count = 0;
  while (const std::optional<std::string_view> line = TakeLine(cpuinfo))
    if (Trim(line->substr(0, line->find(':'))) == "processor") ++count;
  return count;
}

std::optional<std::uint64_t> ParseMemTotal(std::string_view text) {
  constexpr std::uint64_t kKib = 1024;  // the kernel's kB is 1024 bytes
  while (const std::optional<std::string_view> line = TakeLine(text)) {
    const std::size_t colon = line->find(':');
    if (colon == std::string_view::npos || !Trim(line->substr(0, colon)).ends_with("MemTotal"))
      continue;
    std::string_view value = Trim(line->substr(colon + 1));
    if (!value.ends_with("kB")) return std::nullopt;
    value.remove_suffix(2);
    const auto kib = ParseDecimal(Trim(value));
    return kib && *kib <= ~std::uint64_t{0} / kKib ? std::optional(*kib * kKib) : std::nullopt;
  }
  return std::nullopt;
}

std::vector<std::uint32_t> ParseDistances(std::string_view text) {
  std::vector<std::uint32_t> distances;
  for (const std::string_view word : Split(Trim(text), ' ')) {
    const std::optional<std::uint32_t> distance = ParseKnown(word);
    if (!distance) return {};
    distances.push_back(*distance);
  }
  return distances;
}

std::optional<std::uint32_t> ParseKnown(std::string_view text) {
  const auto number = ParseDecimal(Trim(text));
  if (!number || *number >= ~std::uint32_t{0}) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::string_view FindAssigned(std::string_view text, std::string_view name) {
  while (const std::optional<std::string_view> line = TakeLine(text)) {
    const std::size_t sign = line->find('=');
    if (sign != std::string_view::npos && line->substr(0, sign) == name)
      return Trim(line->substr(sign + 1));
  }
  return {};
}

std::optional<std::uint32_t> ParseRdmaRate(std::string_view text) {
  constexpr std::uint64_t kMbitPerGbit = 1000;
  constexpr std::uint64_t kGbitMax = 1'000'000;
  const std::size_t unit = text.find(" Gb/sec");
  if (unit == std::string_view::npos) return std::nullopt;
  const std::string_view number = text.substr(0, unit);
  const std::size_t dot = number.find('.');
  const auto whole = ParseDecimal(number.substr(0, dot));
  if (!whole || *whole > kGbitMax) return std::nullopt;
  std::uint64_t mbit = *whole * kMbitPerGbit;
  if (dot != std::string_view::npos) {
    const auto tenths = ParseDecimal(number.substr(dot + 1));
    if (!tenths || *tenths > 9) return std::nullopt;  // the kernel writes one digit
    mbit += *tenths * kMbitPerGbit / 10;
  }
  return mbit == 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(mbit));
}

std::optional<std::uint64_t> ParseGuid(std::string_view text) {
  constexpr std::size_t kGroups = 4, kDigits = 4;
  std::string digits;
  const std::vector<std::string_view> groups = Split(Trim(text), ':');
  if (groups.size() != kGroups) return std::nullopt;
  for (const std::string_view group : groups) {
    if (group.size() != kDigits) return std::nullopt;
    digits += group;
  }
  // The kernel writes the bytes in order, and a little-endian processor reads them so.
  std::string hex = "0x";
  for (std::size_t byte = digits.size(); byte > 0; byte -= 2) hex += digits.substr(byte - 2, 2);
  const auto guid = ParseUnsigned(hex);
  return guid && *guid != 0 ? guid : std::nullopt;
}

}  // namespace ringlet::discovery
