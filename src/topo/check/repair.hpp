// A view as it would be without a defect, or otherwise changed: the changes as values.
#pragma once
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// A PCI function's link becomes so fast.
struct PcieChange {
  std::uint32_t pci = 0;
  PcieSpeed speed = {};
  std::uint16_t width = 0;
};
/// A GPU's links become these.
struct LinksChange {
  std::uint32_t gpu = 0;
  std::vector<GpuLink> links = {};
};
/// A port becomes so fast.
struct RateChange {
  std::uint32_t net = 0;
  std::uint32_t mbit_per_s = 0;
};
/// A GPU, or a port, gets GPUDirect RDMA, or loses it.
struct GdrChange {
  Part part = {};  ///< kGpu or kNet
  bool gdr = true;
};
/// A GPU is added: a copy of another one, at a new address and with the lowest free number.
struct GpuAdded {
  std::uint32_t like = 0;  ///< index of a GPU
  Part parent = {};        ///< of its PCI function: kNuma or kPci
};
/// A NIC is added: a copy of another one with its ports.
struct NicAdded {
  std::uint32_t like = 0;  ///< index of a NIC that has a PCI function
  Part parent = {};
};

/// A GPU is taken out with all links to it, or a port.
struct PartRemoved {
  Part part = {};  ///< kGpu or kNet
};

using Change =
    std::variant<PcieChange, LinksChange, RateChange, GdrChange, GpuAdded, NicAdded, PartRemoved>;

/// Links between two GPUs must be changed at both ends, by two changes. Texts of a file that have
/// no word in Ringlet are lost where a part is removed. Errors  kInvalidArgument  the result would
/// be no view \pre    the parts exist; view.Check() has passed
Result<HostView> Repaired(HostView view, std::span<const Change> changes);

}  // namespace ringlet::topology
