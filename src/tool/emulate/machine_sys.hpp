// /sys of the machine of `ringlet emulate`.
#pragma once
#include "ringlet/status.hpp"
#include "testbed/sys_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// This process and all that it starts see the machine's PCI functions, NICs and NUMA nodes in /sys
/// from now on, beside what else the computer has there. Before this process has threads.
/// Errors  of testbed::SysTreeOf and testbed::EnterSysSpace
Status ShowMachineSys(const topology::HostView& view, testbed::SysCpus cpus);

}  // namespace ringlet::cli
