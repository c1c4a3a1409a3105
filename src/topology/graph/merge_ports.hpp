// Ports of one network device as one interface, as NCCL 2.30 joins them by default.
#pragma once
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// The view with all ports of one PCI function merged into one interface of their common speed, as
/// NCCL does with NCCL_NET_MERGE_LEVEL=PORT, its default. Ports of which no PCI function is known
/// are left out where NCCL would merge several, since it then has no place for the new device. For
/// comparison with NCCL; Ringlet uses ports as they are.
HostView MergePorts(HostView view);

/// That NCCL merges at most.
inline constexpr std::size_t kMergedPortsMax = 8;

}  // namespace ringlet::topology
