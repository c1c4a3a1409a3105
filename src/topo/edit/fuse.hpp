// Several views as one: of a host as each of its processes saw it, of the hosts of an NVLink
// domain.
//
// NCCL compares elements attribute by attribute, and makes two devices of one that two processes
// saw differently. Here a part is what its identity says: a NUMA node its host and number, a PCI
// function its host and address, a port its device and name. Their differences are settled, and
// told.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

struct Fused {
  HostView view;
  /// The differences between the views and how they were settled, a sentence each; at most
  /// kFusedNotesMax.
  std::vector<std::string> notes;
};
inline constexpr std::size_t kFusedNotesMax = 100;

/// Makes one view of all. Hosts are told apart by identity; the first is the view's own.
///
/// Of two speeds or widths of a PCIe link the higher is taken, since devices at rest show less; of
/// other differences the first. If two GPUs claim one rank, all GPUs are numbered anew in order.
/// Distances of NUMA nodes are dropped where there are several hosts.
///
/// Errors  kInvalidArgument  no view, a bad one, or more parts together than a view may have
/// Cost    O(parts * log parts)
Result<Fused> Fuse(std::span<const HostView> views);

/// Takes away what no rank needs: PCI functions, NICs and NUMA nodes with neither a GPU that has a
/// rank nor a port below. One NUMA node stays.
/// Source  NCCL trims its files so before it sends them.
HostView Prune(const HostView& view);

}  // namespace ringlet::topology
