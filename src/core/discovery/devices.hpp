// Puts a machine's GPUs, NICs, network interfaces and RDMA ports into a view.
#pragma once
#include <optional>
#include <vector>

#include "discovery/gpus.hpp"
#include "discovery/pci_tree.hpp"
#include "discovery/sysfs.hpp"
#include "os/net/interface_filter.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// Fills pci, gpus, nics and nets of `view`, whose NUMA nodes are there.
///
/// GPUs are those of `gpus`; where there is no report, and for makers other than NVIDIA, those that
/// IsGpu finds, numbered in the order of their addresses. NICs are the functions of class 0x02 and
/// those with an interface or an active RDMA port; of a device with several functions the first
/// counts, and of virtual functions the physical one, because they share its link. An interface and
/// the RDMA port that it runs over are one entry; RDMA ports without an interface come last.
/// \param functions  as ListPci gives them
void AddDevices(Sysfs& sysfs, const os::NameRule& rule, std::vector<PciFunction> functions,
                const std::optional<GpuReport>& gpus, topology::HostView& view);

}  // namespace ringlet::discovery
