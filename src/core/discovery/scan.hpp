// Looks at a host, live or captured, and says what it has.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "discovery/gpus.hpp"
#include "os/fs/file_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// The facts that the files do not tell.
struct ScanOptions {
  std::string host_name;
  std::uint64_t identity = 0;  ///< topology::HostIdentity
  /// RINGLET_SOCKET_IFNAME, as os::NameRule reads it.
  std::string interfaces = {};
  /// False: only processors and memory are looked at, which takes a tenth of the time.
  bool devices = true;
  /// Of ReadOnlyNode, if that was asked: it is not read again where devices are not looked at.
  std::optional<topology::NumaNode> only_node = {};
  /// The driver of the machine; null: none is asked, and only a captured tree tells of GPUs.
  GpuSource* gpus = nullptr;
};

struct HostScan {
  topology::HostView view;
  /// A sentence for each thing that was looked for in vain and is guessed or left out in `view`.
  std::vector<std::string> missing;
};

/// The node of a host that has one, without its memory. Empty: there are several, or the tree does
/// not tell. Cost two files
std::optional<topology::NumaNode> ReadOnlyNode(const os::FileTree& files);

/// Reads NUMA nodes and CPUs from /sys/devices/system/node, the processor from /proc/cpuinfo,
/// memory from /proc/meminfo where nodes do not tell, PCI from /sys/bus/pci/devices, interfaces
/// from /sys/class/net, RDMA ports from /sys/class/infiniband, and GPUs from their driver or, in a
/// captured tree, from kGpuTextPath. docs/explanation/discovery.md has the rules.
///
/// Without NUMA nodes the host counts as one node with all CPUs.
///
/// Errors  kInvalidArgument  the tree is none of a Linux machine: neither /proc/cpuinfo nor
///                           /sys/devices/system; the sentence names the root. Or
///                           `options.interfaces` is malformed
/// Cost    some 20 system calls for each GPU, NIC and bridge above them, three for every other PCI
///         function
Result<HostScan> Scan(const os::FileTree& files, const ScanOptions& options);

}  // namespace ringlet::discovery
