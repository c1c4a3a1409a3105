// Completes a given view with detected parts of the machine.
#pragma once
#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// Keeps the values of `given` and adds missing ones from `detected`: attributes of NUMA nodes
/// (same id), PCI functions (same address), GPUs (on the same function) and interfaces (same name,
/// or the same RDMA device); missing NUMA nodes, GPUs and interfaces, with their PCI functions. A
/// function keeps its parent in `given`. A file may describe another host: its nodes count as those
/// of `detected`. All links of a GPU are from the same view.
///
/// Source  NCCL detects over the elements of NCCL_TOPO_FILE in the same way and then drops unused
///         parts. They stay here, because a view describes a machine and not a communicator.
///
/// Errors  kInvalidArgument  the result exceeds a bound of a view
/// \pre    both views have passed Check
Result<topology::HostView> Fill(topology::HostView given, const topology::HostView& detected);

}  // namespace ringlet::discovery
