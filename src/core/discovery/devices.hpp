// Adds a machine's GPUs, NICs, network interfaces and RDMA ports to a view.
#pragma once
#include <optional>
#include <vector>

#include "discovery/gpus.hpp"
#include "discovery/pci_tree.hpp"
#include "discovery/sysfs.hpp"
#include "os/net/interface_filter.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// Fills pci, gpus, nics and nets of `view`, which already contains NUMA nodes.
///
/// GPUs are those of `gpus`. Without a report, and for vendors other than NVIDIA, they are the
/// functions that IsGpu accepts, numbered in address order. NICs are the functions of class 0x02
/// and those with an interface or an active RDMA port. The first function represents a device with
/// several functions, and the physical function represents its virtual ones, because they share its
/// link. An interface and its RDMA port form one entry; RDMA ports without an interface are last.
/// \param functions  from ListPci
void AddDevices(Sysfs& sysfs, const os::NameRule& rule, std::vector<PciFunction> functions,
                const std::optional<GpuReport>& gpus, topology::HostView& view);

}  // namespace ringlet::discovery
