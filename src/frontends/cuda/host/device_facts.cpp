#include "frontends/cuda/host/device_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"

namespace ringlet::cuda {
namespace {

struct AttributeRow {
  int number;
  int value;
};

// By the numbers of cudaDeviceAttr. Those of textures and surfaces are 0, as all that is not named.
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
    AttributeRow{14, 512},        // alignment of textures
    AttributeRow{15, 1},          // copies overlap
    AttributeRow{16, kProcessors},
    AttributeRow{19, 1},          // host memory can be mapped
    AttributeRow{31, 1},          // concurrent kernels
    AttributeRow{36, 1'000'000},  // kHz
    AttributeRow{37, 64},         // bits
    AttributeRow{38, kCacheBytes},
    AttributeRow{39, kThreadsPerProcessorMax},
    AttributeRow{40, 1},  // copy engines
    AttributeRow{41, 1},  // unified addresses
    AttributeRow{50, kPciDomain},
    AttributeRow{51, 32},  // alignment of pitches
    AttributeRow{75, kCapabilityMajor},
    AttributeRow{76, kCapabilityMinor},
    AttributeRow{78, 1},  // priorities of streams
    AttributeRow{81, kSharedBytesPerProcessor},
    AttributeRow{82, kRegisters},
    AttributeRow{83, 1},  // managed memory
    AttributeRow{86, 1},  // atomics of the host
    AttributeRow{88, 1},  // pageable memory
    AttributeRow{89, 1},  // concurrent managed access
    AttributeRow{91, 1},  // registered memory by its host pointer
    AttributeRow{97, kSharedBytesPerBlockOptIn},
    AttributeRow{99, 1},  // host memory can be registered
    AttributeRow{100, 1},
    AttributeRow{101, 1},
    AttributeRow{106, kBlocksPerProcessorMax},
    AttributeRow{111, kSharedBytesReserved},
    AttributeRow{113, 1},  // also read only
};
constexpr int kAttributeBus = 33;
constexpr int kAttributeLast = 150;

constexpr std::string_view kUuidText = "ringlet device";

}  // namespace

int PciBus(std::uint32_t device) {
  return static_cast<int>(device) + 1;
}

std::string PciText(std::uint32_t device) {
  return fmt::format("{:04x}:{:02x}:00.0", kPciDomain, PciBus(device));
}

std::optional<std::uint32_t> DeviceAtPci(std::string_view address, std::uint32_t devices) {
  const std::size_t colon = address.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view domain = address.substr(0, colon);
  while (domain.size() > 4 && domain.starts_with('0')) domain.remove_prefix(1);
  std::string wanted = fmt::format("{}{}", domain, address.substr(colon));
  if (wanted.find('.') == std::string::npos) wanted += ".0";
  for (std::uint32_t device = 0; device < devices; ++device)
    if (EqualIgnoringCase(PciText(device), wanted)) return device;
  return std::nullopt;
}

std::array<unsigned char, 16> Uuid(std::uint32_t device) {
  std::array<unsigned char, 16> uuid{};
  std::ranges::copy(kUuidText, uuid.begin());
  uuid[14] = static_cast<unsigned char>(device >> 8U);
  uuid[15] = static_cast<unsigned char>(device);
  return uuid;
}

std::string UuidText(std::uint32_t device) {
  std::string text = "GPU-";
  const auto uuid = Uuid(device);
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

std::optional<int> Attribute(int number, std::uint32_t device) {
  if (number == kAttributeBus) return PciBus(device);
  const auto at = std::ranges::find(kAttributes, number, &AttributeRow::number);
  if (at != kAttributes.end()) return at->value;
  if (number < 1 || number > kAttributeLast) return std::nullopt;
  return 0;
}

}  // namespace ringlet::cuda
