// The devices of the emulated machine and how they are joined: those of a topology file, or plain
// ones that are all alike. Pure.
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

/// The nearest thing that two devices have in common, from near to far.
enum class DeviceNearness : std::uint8_t {
  kSame,      ///< they are one device
  kSwitch,    ///< one PCI switch
  kSwitches,  ///< several PCI switches
  kNode,      ///< a NUMA node
  kSystem,    ///< only the machine
};

/// How one device reaches the memory of another.
enum class PeerWay : std::uint8_t {
  kNone,
  kPci,
  kNvLink,  ///< by links of their own, or by NVSwitches
};

class RINGLET_API MachineFacts {
 public:
  MachineFacts() = default;

  /// Devices of compute capability 9.0 that reach each other, at addresses that no computer has.
  /// \param host  the number of the emulated host
  static MachineFacts Plain(std::uint32_t devices, std::uint32_t host);
  /// Those of a file, by their numbers (`dev`).
  /// \param view  has passed Check(); of one host
  /// Errors  kInvalidArgument  the numbers are not 0, 1, ...; a GPU has no compute capability
  static Result<MachineFacts> Of(const topology::HostView& view, std::uint32_t host);

  std::uint32_t devices() const { return static_cast<std::uint32_t>(devices_.size()); }
  /// \param device  the number among all devices
  const CudaDeviceFacts& operator[](std::uint32_t device) const { return devices_[device]; }
  /// The first `devices` of them.
  void Keep(std::uint32_t devices);

  std::optional<std::uint32_t> At(const PciPlace& place) const;
  DeviceNearness Nearness(std::uint32_t a, std::uint32_t b) const;
  /// By NVLink, where both have such links to each other or to NVSwitches. By PCI, within a NUMA
  /// node, and across nodes of AMD's processors; not for GeForce, whose driver has no such access.
  /// Source  CUDA's programming guide: no access over the link between Intel's processors; the
  ///         statement of a machine with RTX 3090 in test/fixtures/topologies/statements
  PeerWay Peer(std::uint32_t a, std::uint32_t b) const;

 private:
  /// The place of a device in the tree: NUMA node, then PCI functions above it, top first.
  struct Ancestry {
    std::uint32_t node = 0;
    std::vector<std::uint32_t> functions = {};
  };

  std::vector<CudaDeviceFacts> devices_;
  std::vector<Ancestry> ancestries_;  // one for each device
  bool crosses_nodes_ = true;         // PCI between NUMA nodes
};

}  // namespace ringlet::cuda
