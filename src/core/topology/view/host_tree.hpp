// The parts of a view as a tree, in the order of the file.
#pragma once
#include <cstdint>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// The children of each part. A NUMA node has PCI functions and NICs. A PCI function has GPUs, then
/// NICs, then PCI functions. A NIC has nets.
///
/// The order of PCI functions and NICs under a NUMA node lets a reader find the NICs by number.
class HostTree {
 public:
  /// \param view  passed Check(); need not outlive the tree
  /// Cost         O(parts)
  explicit HostTree(const HostView& view);

  const std::vector<Part>& Below(Part part) const;
  /// Nets without a NIC, in order.
  const std::vector<std::uint32_t>& loose_nets() const { return loose_nets_; }

 private:
  void AddNuma(const HostView& view);

  std::vector<std::vector<Part>> numa_, pci_, nics_;
  std::vector<Part> system_, none_;
  std::vector<std::uint32_t> loose_nets_;
};

}  // namespace ringlet::topology
