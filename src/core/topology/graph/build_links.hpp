// The second half of building a graph: adds the links outside the PCI tree.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "topology/graph/build_tree.hpp"

namespace ringlet::topology {

/// The NVSwitches of NVLink domains: one node per domain, created on first use.
class NvSwitches {
 public:
  explicit NvSwitches(bool join_fabrics) : join_fabrics_(join_fabrics) {}

  /// \param view    number of the GPU's view; stands in for a missing domain
  /// \param domain  domain of the GPU
  NodeIndex Of(Draft& draft, std::uint32_t view, const std::optional<NvlinkFabric>& domain,
               std::uint32_t host);

 private:
  bool join_fabrics_;
  std::map<NvlinkFabric, NodeIndex> of_domain_;
  std::map<std::uint32_t, NodeIndex> of_view_;
  std::map<std::uint32_t, std::uint32_t> count_;  // by system
};

/// Adds NVLinks and xGMI links of all devices of a view. A link to a GPU has one direction, because
/// that GPU's own element adds the other. Skips links to unknown GPUs. Also skips links to the same
/// GPU and links with a count of 0, unless `rules` is kNccl.
void AddGpuLinks(Draft& draft, const HostView& view, std::uint32_t view_number, const Tree& tree,
                 NvSwitches& switches, Rules rules);

/// Adds chip-to-chip links to the processor above a GPU.
void AddC2cLinks(Draft& draft, const HostView& view, const Tree& tree);

/// Adds the links between Broadcom switches (`pcilink`), one direction each.
void AddPciLinks(Draft& draft, const HostView& view, const Tree& tree);

/// Merges the two levels that Broadcom's PEX switches of generation 4 and 5 appear as. Any port of
/// such a switch reaches any other port at full rate.
/// Source  NCCL's patterns of vendor, device and subsystem ids.
void FlattenBroadcom(Draft& draft);

/// Links every NUMA node with every other one of its host.
void AddSockets(Draft& draft, const HostView& view, const Tree& tree, Rules rules);

/// Adds interfaces without a known device. Links each to its NUMA node, as NCCL does, or to the
/// first NUMA node if its own is unknown.
void AddPlainNets(Draft& draft, const HostView& view, const Tree& tree, bool unknown_net);

}  // namespace ringlet::topology
