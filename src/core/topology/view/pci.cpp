#include "topology/view/pci.hpp"

#include <fmt/format.h>

#include <array>

#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

constexpr std::array<std::string_view, 7> kSpeedTexts = {
    "2.5 GT/s PCIe",  "5.0 GT/s PCIe",  "8.0 GT/s PCIe",   "16.0 GT/s PCIe",
    "32.0 GT/s PCIe", "64.0 GT/s PCIe", "128.0 GT/s PCIe",
};

struct Spelling {
  std::string_view text;
  std::uint32_t lane_speed;
};
constexpr std::array<Spelling, 11> kNcclSpellings = {{{"2.5 GT/s", 15},
                                                      {"2.5 GT/s PCIe", 15},
                                                      {"5 GT/s", 30},
                                                      {"5.0 GT/s PCIe", 30},
                                                      {"8 GT/s", 60},
                                                      {"8.0 GT/s PCIe", 60},
                                                      {"16 GT/s", 120},
                                                      {"16.0 GT/s PCIe", 120},
                                                      {"32 GT/s", 240},
                                                      {"32.0 GT/s PCIe", 240},
                                                      {"64.0 GT/s PCIe", 480}}};

/// Removes `min` to `max` hex digits from the front of `text`.
std::optional<std::uint64_t> TakeHex(std::string_view& text, std::size_t min, std::size_t max) {
  std::uint64_t value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && digits < max; ++digits) {
    const char c = text[digits];
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool decimal = lower >= '0' && lower <= '9';
    if (!decimal && !(lower >= 'a' && lower <= 'f')) break;
    value = value << 4 | static_cast<std::uint64_t>(decimal ? lower - '0' : lower - 'a' + 10);
  }
  text.remove_prefix(digits);
  return digits < min ? std::nullopt : std::optional(value);
}

bool Take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

Result<BusId> BusId::Parse(std::string_view text) {
  std::string_view rest = text;
  const auto domain = TakeHex(rest, 1, 8);
  const bool first = Take(rest, ':');
  const auto bus = TakeHex(rest, 2, 2);
  const bool second = Take(rest, ':');
  const auto device = TakeHex(rest, 2, 2);
  const bool dot = Take(rest, '.');
  const auto function = TakeHex(rest, 1, 1);
  if (domain && first && bus && second && device && dot && function && rest.empty())
    return Of(static_cast<std::uint32_t>(*domain), static_cast<std::uint8_t>(*bus),
              static_cast<std::uint8_t>(*device), static_cast<std::uint8_t>(*function));
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is not the address of a PCI function such as 0000:3b:00.0",
                           Printable(text, 40))};
}

std::string ToString(BusId id) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", id.domain(), id.bus(), id.device(),
                     id.function());
}

Result<PciClass> PciClass::Parse(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with("0x") || rest.starts_with("0X")) rest.remove_prefix(2);
  const std::size_t digits = rest.size();
  const auto value = TakeHex(rest, 2, 6);
  if (!value || !rest.empty())
    return Error{Code::kInvalidArgument,
                 fmt::format("\"{}\" is not a PCI class such as 0x060400", Printable(text, 40))};
  return PciClass{static_cast<std::uint32_t>(*value << (4 * (6 - digits)))};
}

PciRole PciClass::role() const {
  if (code == 0x060400 || code == 0x080100) return PciRole::kBridge;
  if (code == 0x068000) return PciRole::kNvSwitch;
  if (code == 0x068001) return PciRole::kCpuBridge;
  if (code >> 16 == 0x03 || code >> 8 == 0x1200) return PciRole::kGpu;
  return code >> 16 == 0x02 ? PciRole::kNic : PciRole::kOther;
}

std::string ToString(PciClass code) {
  return fmt::format("0x{:06x}", code.code);
}

PcieSpeed PcieSpeed::Parse(std::string_view text) {
  PcieSpeed speed{.generation = 0, .text = std::string(text)};
  for (std::size_t i = 0; i < kSpeedTexts.size(); ++i) {
    std::string_view number = kSpeedTexts[i].substr(0, kSpeedTexts[i].find(' '));
    std::string_view rest = text;
    const bool whole = number.ends_with(".0");
    if (whole) number.remove_suffix(2);
    if (!rest.starts_with(number)) continue;
    rest.remove_prefix(number.size());
    if (whole && rest.starts_with(".0")) rest.remove_prefix(2);
    if (rest.starts_with(" GT/s") || rest.starts_with("GT/s"))
      speed.generation = static_cast<std::uint8_t>(i + 1);
  }
  return speed;
}

PcieSpeed PcieSpeed::Of(std::uint8_t generation) {
  RINGLET_ASSERT(generation >= 1 && generation <= kSpeedTexts.size());
  return {generation, std::string(kSpeedTexts[generation - 1u])};
}

std::optional<std::uint32_t> NcclLaneSpeed(std::string_view text) {
  for (const Spelling& spelling : kNcclSpellings)
    if (text.starts_with(spelling.text)) return spelling.lane_speed;
  return std::nullopt;
}

}  // namespace ringlet::topology
