// The /sys of the machine of `ringlet emulate`.
#pragma once
#include "ringlet/status.hpp"
#include "testbed/sys_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// Adds the machine's PCI functions, NICs and NUMA nodes to the computer's own parts in /sys. This
/// process and its children see them. \pre this process has not started threads
/// Errors  as testbed::SysTreeOf and testbed::EnterSysSpace
Status ShowMachineSys(const topology::HostView& view, testbed::SysCpus cpus);

}  // namespace ringlet::cli
