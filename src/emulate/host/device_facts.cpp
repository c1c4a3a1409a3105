#include "emulate/host/device_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/value/text.hpp"

namespace ringlet::cuda {
namespace {

constexpr int kKib = 1024;
constexpr std::array kLimits = {
    CapabilityLimits{0, 2048, 32, 64 * kKib, 48 * kKib, 0},
    CapabilityLimits{70, 2048, 32, 96 * kKib, 96 * kKib, 0},
    CapabilityLimits{75, 1024, 16, 64 * kKib, 64 * kKib, 0},
    CapabilityLimits{80, 2048, 32, 164 * kKib, 163 * kKib, kKib},
    CapabilityLimits{86, 1536, 16, 100 * kKib, 99 * kKib, kKib},
    CapabilityLimits{89, 1536, 24, 100 * kKib, 99 * kKib, kKib},
    CapabilityLimits{90, 2048, 32, 228 * kKib, 227 * kKib, kKib},
    CapabilityLimits{120, 1536, 24, 100 * kKib, 99 * kKib, kKib},
};

struct AttributeRow {
  int number;
  int value;
};

// Attributes that are equal for all devices, by cudaDeviceAttr. Unlisted attributes, such as those
// of textures and surfaces, are 0.
constexpr std::array kAttributes = {
    AttributeRow{1, kThreadsPerBlockMax},
    AttributeRow{2, kBlockMax[0]},
    AttributeRow{3, kBlockMax[1]},
    AttributeRow{4, kBlockMax[2]},
    AttributeRow{5, kGridMax[0]},
    AttributeRow{6, kGridMax[1]},
    AttributeRow{7, kGridMax[2]},
    AttributeRow{8, kSharedBytesPerBlock},
    AttributeRow{9, kConstantBytes},
    AttributeRow{10, kWarpSize},
    AttributeRow{11, kPitchMax},
    AttributeRow{12, kRegisters},
    AttributeRow{13, 1'000'000},  // kHz
    AttributeRow{14, 512},        // texture alignment
    AttributeRow{15, 1},          // copies overlap
    AttributeRow{19, 1},          // host memory can be mapped
    AttributeRow{31, 1},          // concurrent kernels
    AttributeRow{36, 1'000'000},  // kHz
    AttributeRow{37, 64},         // bits
    AttributeRow{38, kCacheBytes},
    AttributeRow{40, 1},   // copy engines
    AttributeRow{41, 1},   // unified addresses
    AttributeRow{51, 32},  // pitch alignment
    AttributeRow{78, 1},   // stream priorities
    AttributeRow{82, kRegisters},
    AttributeRow{83, 1},  // managed memory
    AttributeRow{86, 1},  // host atomics
    AttributeRow{88, 1},  // pageable memory
    AttributeRow{89, 1},  // concurrent managed access
    AttributeRow{91, 1},  // registered memory by its host pointer
    AttributeRow{99, 1},  // host memory can be registered
    AttributeRow{100, 1},
    AttributeRow{101, 1},
    AttributeRow{113, 1},  // also read-only
};
constexpr int kAttributeLast = 150;

std::optional<int> AttributeOfDevice(int number, const CudaDeviceFacts& device) {
  const CapabilityLimits& limits = LimitsOf(device.capability);
  switch (number) {
    case 16: return device.processors;
    case 33: return device.pci.bus;
    case 34: return device.pci.device;
    case 39: return limits.threads_per_processor;
    case 50: return static_cast<int>(device.pci.domain);
    case 75: return device.capability_major();
    case 76: return device.capability_minor();
    case 81: return limits.shared_bytes_per_processor;
    case 97: return limits.shared_bytes_per_block_opt_in;
    case 106: return limits.blocks_per_processor;
    case 111: return limits.shared_bytes_reserved;
    case 134: return device.numa ? static_cast<int>(*device.numa) : -1;  // on the host
    default: return std::nullopt;
  }
}

constexpr std::string_view kUuidText = "ringlet device";

/// Parses all of `text` as a hexadecimal number.
std::optional<std::uint32_t> Hex(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

const CapabilityLimits& LimitsOf(std::uint32_t capability) {
  const auto next =
      std::ranges::upper_bound(kLimits, capability, {}, &CapabilityLimits::capability);
  return *(next - 1);
}

std::string PciText(const PciPlace& place) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", place.domain, place.bus, place.device,
                     place.function);
}

std::string LongPciText(const PciPlace& place) {
  return fmt::format("{:08X}:{:02X}:{:02X}.{:X}", place.domain, place.bus, place.device,
                     place.function);
}

std::optional<PciPlace> ParsePci(std::string_view address) {
  const auto parts = Split(address, ':');
  if (parts.size() != 3) return std::nullopt;
  const std::size_t dot = std::min(parts[2].find('.'), parts[2].size());
  const auto domain = Hex(parts[0]), bus = Hex(parts[1]), device = Hex(parts[2].substr(0, dot));
  const auto function = dot == parts[2].size() ? 0 : Hex(parts[2].substr(dot + 1));
  if (!domain || !bus || !device || !function || *bus > 0xff || *device > 0xff || *function > 7)
    return std::nullopt;
  return PciPlace{*domain, static_cast<std::uint8_t>(*bus), static_cast<std::uint8_t>(*device),
                  static_cast<std::uint8_t>(*function)};
}

std::array<unsigned char, 16> Uuid(std::uint32_t device, std::uint32_t host) {
  std::array<unsigned char, 16> uuid{};
  std::ranges::copy(kUuidText, uuid.begin());
  if (host > 0) {
    uuid[12] = static_cast<unsigned char>(host >> 8U);
    uuid[13] = static_cast<unsigned char>(host);
  }
  uuid[14] = static_cast<unsigned char>(device >> 8U);
  uuid[15] = static_cast<unsigned char>(device);
  return uuid;
}

std::string UuidText(const CudaDeviceFacts& device) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < device.uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", device.uuid[i]);
  }
  return text;
}

std::optional<int> Attribute(int number, const CudaDeviceFacts& device) {
  if (const auto own = AttributeOfDevice(number, device)) return own;
  const auto at = std::ranges::find(kAttributes, number, &AttributeRow::number);
  if (at != kAttributes.end()) return at->value;
  if (number < 1 || number > kAttributeLast) return std::nullopt;
  return 0;
}

}  // namespace ringlet::cuda
