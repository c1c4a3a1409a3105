// The second half of a graph: what joins devices besides the PCI tree.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "topology/graph/build_tree.hpp"

namespace ringlet::topology {

/// The NVSwitches of NVLink domains: one node for each domain, made when first needed.
class NvSwitches {
 public:
  explicit NvSwitches(bool join_fabrics) : join_fabrics_(join_fabrics) {}

  /// \param view    number of the view that the GPU is in: without a domain, it is one
  /// \param domain  of the GPU
  NodeIndex Of(Draft& draft, std::uint32_t view, const std::optional<Fabric>& domain,
               std::uint32_t host);

 private:
  bool join_fabrics_;
  std::map<Fabric, NodeIndex> of_domain_;
  std::map<std::uint32_t, NodeIndex> of_view_;
  std::map<std::uint32_t, std::uint32_t> count_;  // by system
};

/// NVLinks and xGMI links of all devices of a view. One to a GPU is one way: that GPU's own element
/// makes the way back. A link to no known GPU is left out; so is one to itself or with a count of
/// 0, which NCCL takes in.
void AddGpuLinks(Draft& draft, const HostView& view, std::uint32_t view_number, const Tree& tree,
                 NvSwitches& switches, Rules rules);

/// Chip-to-chip links to the processor above.
void AddC2cLinks(Draft& draft, const HostView& view, const Tree& tree);

/// The links between Broadcom's switches (`pcilink`), one way each.
void AddPciLinks(Draft& draft, const HostView& view, const Tree& tree);

/// Makes one of the two levels that Broadcom's PEX switches of generation 4 and 5 appear as: any
/// port of theirs reaches any port at full rate.
/// Source  NCCL's patterns of vendor, device and subsystem ids.
void FlattenBroadcom(Draft& draft);

/// Every NUMA node with every other one of its host.
void AddSockets(Draft& draft, const HostView& view, const Tree& tree, Rules rules);

/// Interfaces of which no device is known: straight on their NUMA node, as NCCL does, on the first
/// where none is known.
void AddPlainNets(Draft& draft, const HostView& view, const Tree& tree, bool unknown_net);

}  // namespace ringlet::topology
