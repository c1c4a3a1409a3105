// Merges several views into one: the views of a host's processes, or of the hosts of an NVLink
// domain.
//
// NCCL compares elements attribute by attribute, and duplicates a device if two processes saw it
// differently. Here identity decides: a NUMA node by host and number, a PCI function by host and
// address, a port by device and name. The merge settles differences and reports them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

struct Fused {
  HostView view;
  /// One sentence per difference between the views, with the chosen value; at most kFusedNotesMax.
  std::vector<std::string> notes;
};
inline constexpr std::size_t kFusedNotesMax = 100;

/// Merges all views. Identity distinguishes hosts; the first host is the view's own.
///
/// For PCIe links the merge takes the highest speed and width, because idle devices report less.
/// For other differences it takes the first. If two GPUs claim one rank, it renumbers all GPUs in
/// order. With several hosts it drops the distances of NUMA nodes.
///
/// Errors  kInvalidArgument  no view, a bad one, or more parts together than a view may have
/// Cost    O(parts * log parts)
Result<Fused> Fuse(std::span<const HostView> views);

/// Removes parts that no rank needs: PCI functions, NICs and NUMA nodes with neither a GPU with a
/// rank nor a port below. One NUMA node stays.
/// Source  NCCL trims its files in this way before it sends them.
HostView Prune(const HostView& view);

}  // namespace ringlet::topology
