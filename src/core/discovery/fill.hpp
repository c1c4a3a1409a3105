// A given view, completed by what the machine itself tells.
#pragma once
#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// The values of `given` stay, and `detected` fills what it leaves out: attributes of NUMA nodes
/// (same id), PCI functions (same address), GPUs (on the same function) and interfaces (same name,
/// or the same RDMA device); NUMA nodes, GPUs and interfaces that it lacks, with the functions they
/// are at. A function keeps the parent that `given` has for it. A file may come from another host:
/// its nodes count as those of `detected`. Links of a GPU are all of one or all of the other.
///
/// Source  NCCL detects over the elements of NCCL_TOPO_FILE in the same way. It then drops what no
///         rank uses; here it stays, because a view is of a machine and not of a communicator.
///
/// Errors  kInvalidArgument  both together break a bound of a view
/// \pre    both have passed Check
Result<topology::HostView> Fill(topology::HostView given, const topology::HostView& detected);

}  // namespace ringlet::discovery
