// The devices of the emulated machine and their links: from a topology file, or plain. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "emulate/host/device_facts.hpp"
#include "ringlet/export.hpp"
#include "ringlet/status.hpp"

namespace ringlet::topology {
struct HostView;
}

namespace ringlet::cuda {

/// The nearest common part of two devices, near to far.
enum class DeviceNearness : std::uint8_t {
  kSame,      ///< the same device
  kSwitch,    ///< one PCI switch
  kSwitches,  ///< several PCI switches
  kNode,      ///< a NUMA node
  kSystem,    ///< only the machine
};

/// The path from one device to the memory of another.
enum class PeerPath : std::uint8_t {
  kNone,
  kPci,
  kNvLink,  ///< directly or through NVSwitches
};

class RINGLET_API MachineFacts {
 public:
  MachineFacts() = default;

  /// Creates devices of compute capability 9.0 that reach each other, at PCI addresses that real
  /// computers do not use. \param host  number of the emulated host
  static MachineFacts Plain(std::uint32_t devices, std::uint32_t host);
  /// Creates the devices of a file, ordered by their numbers (`dev`).
  /// \param view  one host; has passed Check()
  /// Errors  kInvalidArgument  the numbers are not 0, 1, ...; a GPU lacks its compute capability
  static Result<MachineFacts> Of(const topology::HostView& view, std::uint32_t host);

  std::uint32_t devices() const { return static_cast<std::uint32_t>(devices_.size()); }
  /// \param device  number among all devices
  const CudaDeviceFacts& operator[](std::uint32_t device) const { return devices_[device]; }
  /// Keeps only the first `devices`.
  void LimitDevices(std::uint32_t devices);

  std::optional<std::uint32_t> At(const PciPlace& place) const;
  DeviceNearness Nearness(std::uint32_t a, std::uint32_t b) const;
  /// NVLink: if both have NVLinks to each other or to NVSwitches. PCI: within a NUMA node, and
  /// across nodes of AMD's processors. None for GeForce, because its driver lacks peer access.
  /// Source  CUDA's programming guide: no access over the link between Intel's processors; the
  ///         statement of a machine with RTX 3090 in test/fixtures/topologies/statements
  PeerPath Peer(std::uint32_t a, std::uint32_t b) const;

 private:
  /// Position of a device in the tree: NUMA node, then the PCI functions above it, top first.
  struct Ancestry {
    std::uint32_t node = 0;
    std::vector<std::uint32_t> functions = {};
  };

  std::vector<CudaDeviceFacts> devices_;
  std::vector<Ancestry> ancestries_;  // one per device
  bool crosses_nodes_ = true;         // PCI between NUMA nodes
};

}  // namespace ringlet::cuda
