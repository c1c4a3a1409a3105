#include "testbed/pci_config.hpp"

#include <cstdint>

namespace ringlet::testbed {
namespace {

constexpr std::size_t kConfigBytes = 256;
constexpr topology::PciClass kPciBridge{0x060400};

/// Little-endian registers.
class ConfigSpace {
 public:
  void Put8(std::size_t at, std::uint32_t value) { bytes_[at] = static_cast<char>(value & 0xff); }
  void Put16(std::size_t at, std::uint32_t value) {
    Put8(at, value);
    Put8(at + 1, value >> 8);
  }
  void Put32(std::size_t at, std::uint32_t value) {
    Put16(at, value);
    Put16(at + 2, value >> 16);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_ = std::string(kConfigBytes, '\0');
};

// Source  PCI Local Bus Specification 3.0, chapter 6; PCI-to-PCI Bridge Architecture 1.2, chapter
//         3; PCI Express Base Specification 4.0, section 7.5.
constexpr std::size_t kExpressAt = 0x40, kSubsystemAt = 0x80;
constexpr std::uint32_t kExpressId = 0x10, kSubsystemId = 0x0d;

std::uint32_t ExpressType(const PciSlot& slot, bool bridge) {
  constexpr std::uint32_t kEndpoint = 0, kRootPort = 4, kUpstream = 5, kDownstream = 6;
  switch (slot.level) {
    case PciSlot::Level::kRootPort: return kRootPort;
    case PciSlot::Level::kDownstreamPort: return kDownstream;
    case PciSlot::Level::kDevice: break;
  }
  return bridge ? kUpstream : kEndpoint;
}

void PutExpress(ConfigSpace& config, const PciSlot& slot, const topology::PciDevice& device,
                bool bridge) {
  constexpr std::uint32_t kVersion = 2;
  const std::uint32_t speed = device.link_speed.generation;
  const std::uint32_t width = device.link_width;
  config.Put8(kExpressAt, kExpressId);
  config.Put8(kExpressAt + 1, bridge ? kSubsystemAt : 0);
  config.Put16(kExpressAt + 2, kVersion | ExpressType(slot, bridge) << 4);
  config.Put32(kExpressAt + 0x0c, speed | width << 4);        // link capabilities
  config.Put16(kExpressAt + 0x12, speed | width << 4);        // link status
  config.Put32(kExpressAt + 0x2c, ((1u << speed) - 1) << 1);  // supported speeds
}

}  // namespace

topology::PciClass ClassOf(const PciSlot& slot, const topology::PciDevice& device) {
  if (slot.level != PciSlot::Level::kDevice) return kPciBridge;
  return device.device_class.value_or(topology::PciClass{});
}

std::string ConfigSpaceOf(const PciSlot& slot, const topology::PciDevice& device,
                          const topology::PciIds& ids) {
  constexpr std::uint32_t kBusMaster = 0x0006, kHasCapabilities = 0x0010;
  const topology::PciClass code = ClassOf(slot, device);
  const bool bridge = code == kPciBridge;
  ConfigSpace config;
  config.Put16(0x00, ids.vendor);
  config.Put16(0x02, ids.device);
  config.Put16(0x04, kBusMaster);
  config.Put16(0x06, kHasCapabilities);
  config.Put8(0x09, code.code);
  config.Put16(0x0a, code.code >> 8);
  config.Put8(0x0e, bridge ? 1 : 0);
  config.Put8(0x34, kExpressAt);
  PutExpress(config, slot, device, bridge);
  if (!bridge) {
    config.Put16(0x2c, ids.subsystem_vendor);
    config.Put16(0x2e, ids.subsystem_device);
    return config.Take();
  }
  config.Put8(0x18, slot.primary);
  config.Put8(0x19, slot.secondary);
  config.Put8(0x1a, slot.subordinate);
  config.Put8(kSubsystemAt, kSubsystemId);
  config.Put16(kSubsystemAt + 4, ids.subsystem_vendor);
  config.Put16(kSubsystemAt + 6, ids.subsystem_device);
  return config.Take();
}

}  // namespace ringlet::testbed
