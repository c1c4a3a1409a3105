// The parts of a view as the tree that they are, in the order of the file.
#pragma once
#include <cstdint>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// The parts directly below each part that can have something below it. Below a NUMA node: PCI
/// functions and NICs. Below a PCI function: GPUs, then NICs, then PCI functions. Below a NIC:
/// nets.
///
/// Between the PCI functions and NICs of a NUMA node the order is one in which a reader would find
/// the NICs as they are numbered.
class HostTree {
 public:
  /// \param view  has passed Check(); need not outlive the tree
  /// Cost         O(parts)
  explicit HostTree(const HostView& view);

  const std::vector<Part>& Below(Part part) const;
  /// Nets that have no NIC, in order.
  const std::vector<std::uint32_t>& loose_nets() const { return loose_nets_; }

 private:
  void AddNuma(const HostView& view);

  std::vector<std::vector<Part>> numa_, pci_, nics_;
  std::vector<Part> system_, none_;
  std::vector<std::uint32_t> loose_nets_;
};

}  // namespace ringlet::topology
