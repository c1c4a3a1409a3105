// Changes of a view as values: repairs of defects, and other modifications.
#pragma once
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Sets the speed of a PCI function's link.
struct PcieChange {
  std::uint32_t pci = 0;
  PcieSpeed speed = {};
  std::uint16_t width = 0;
};
/// Replaces a GPU's links.
struct LinksChange {
  std::uint32_t gpu = 0;
  std::vector<GpuLink> links = {};
};
/// Sets a port's rate.
struct RateChange {
  std::uint32_t net = 0;
  std::uint32_t mbit_per_s = 0;
};
/// Adds GPUDirect RDMA to a GPU or a port, or removes it.
struct GdrChange {
  Part part = {};  ///< kGpu or kNet
  bool gdr = true;
};
/// Adds a copy of a GPU, at a new address and with the lowest free number.
struct GpuAdded {
  std::uint32_t like = 0;  ///< index of a GPU
  Part parent = {};        ///< parent of its PCI function: kNuma or kPci
};
/// Adds a copy of a NIC with its ports.
struct NicAdded {
  std::uint32_t like = 0;  ///< index of a NIC with a PCI function
  Part parent = {};
};

/// Removes a GPU with all links to it, or a port.
struct PartRemoved {
  Part part = {};  ///< kGpu or kNet
};

using Change =
    std::variant<PcieChange, LinksChange, RateChange, GdrChange, GpuAdded, NicAdded, PartRemoved>;

/// To change links between two GPUs, change both ends. A removal drops texts of a file without a
/// field in Ringlet.
/// Errors  kInvalidArgument  the result would be an invalid view
/// \pre    the parts exist; view.Check() has passed
Result<HostView> Repaired(HostView view, std::span<const Change> changes);

}  // namespace ringlet::topology
