// PCI addresses, classes and link speeds as types.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ringlet/status.hpp"

namespace ringlet::topology {

/// The address of a PCI function, domain:bus:device.function. Packed as in NCCL: 0000:11:00.0 is
/// 0x11000, its hex digits in a row.
struct BusId {
  std::uint64_t value = 0;

  static constexpr BusId Of(std::uint32_t domain, std::uint8_t bus, std::uint8_t device,
                            std::uint8_t function) {
    return {std::uint64_t{domain} << 20 | std::uint64_t{bus} << 12 | std::uint64_t{device} << 4 |
            (function & 0xfu)};
  }
  /// Parses DDDD:BB:DD.F with 1 to 8 digits of domain, in upper or lower case.
  /// Errors  kInvalidArgument  quotes the text
  static Result<BusId> Parse(std::string_view text);

  constexpr std::uint32_t domain() const { return static_cast<std::uint32_t>(value >> 20); }
  constexpr std::uint8_t bus() const { return static_cast<std::uint8_t>(value >> 12); }
  constexpr std::uint8_t device() const { return static_cast<std::uint8_t>(value >> 4); }
  constexpr std::uint8_t function() const { return static_cast<std::uint8_t>(value & 0xf); }
  auto operator<=>(const BusId&) const = default;
};

/// Returns true if a function can have this address: devices are 0 to 31, functions 0 to 7.
constexpr bool IsPossible(BusId id) {
  return id.device() <= 0x1f && id.function() <= 7;
}

/// Lower case, at least four digits of domain: "0000:0b:00.0".
std::string ToString(BusId id);

/// NCCL's kind of a PCI function, by class.
/// Source  NCCL's table of class prefixes; AMD's accelerators have class 0x120000.
enum class PciRole : std::uint8_t {
  kBridge,     ///< 0x060400, a switch; 0x080100, the "data direct" bridge of a ConnectX-8
  kNvSwitch,   ///< 0x068000
  kCpuBridge,  ///< 0x068001, the NVLink bridge of a POWER processor
  kGpu,        ///< 0x03....; 0x1200.. (processing accelerator)
  kNic,        ///< 0x02....
  kOther,      ///< NCCL treats it as a bridge
};

/// A class of 24 bits, as in /sys. Text with fewer digits, such as "0x03", has lower digits 0.
struct PciClass {
  std::uint32_t code = 0;

  /// Errors  kInvalidArgument  quotes the text
  static Result<PciClass> Parse(std::string_view text);
  PciRole role() const;
  auto operator<=>(const PciClass&) const = default;
};
std::string ToString(PciClass code);  ///< "0x060400"

/// The ids of vendor and device, and of the board's vendor and type. 0: unknown.
struct PciIds {
  std::uint16_t vendor = 0;
  std::uint16_t device = 0;
  std::uint16_t subsystem_vendor = 0;
  std::uint16_t subsystem_device = 0;

  /// NCCL's 64-bit device id. Its Broadcom rules use it.
  constexpr std::uint64_t packed() const {
    return std::uint64_t{vendor} << 48 | std::uint64_t{device} << 32 |
           std::uint64_t{subsystem_vendor} << 16 | subsystem_device;
  }
  bool operator==(const PciIds&) const = default;
};

/// The speed of one lane: the text of the kernel or a file, and the generation if known.
struct PcieSpeed {
  std::uint8_t generation = 0;  ///< 1 to 7; 0: unknown
  std::string text;             ///< "16.0 GT/s PCIe"; empty: not given

  /// Accepts any number of GT/s that matches a generation. Keeps other text without a generation.
  static PcieSpeed Parse(std::string_view text);
  /// \param generation  1 to 7
  static PcieSpeed Of(std::uint8_t generation);
  bool operator==(const PcieSpeed&) const = default;
};

/// A PCIe link of a running machine: its current state, and the best state that both ends support.
/// Generation 0 and width 0 mean unknown.
struct LinkState {
  BusId bus;  ///< address of the lower end
  PcieSpeed speed = {};
  std::uint16_t width = 0;
  PcieSpeed best_speed = {};
  std::uint16_t best_width = 0;
};

/// Reads a speed as NCCL 2.30 does, in units of 100 Mbit/s per lane. Null for text that is not in
/// NCCL's dictionary. NCCL then uses 60, which is generation 3.
/// Source  NCCL's dictionary: it compares prefixes, and contains two spellings of each generation
///         up to 5 and one of the sixth. It lacks "16.0 GT/s" without " PCIe".
std::optional<std::uint32_t> NcclLaneSpeed(std::string_view text);

}  // namespace ringlet::topology
