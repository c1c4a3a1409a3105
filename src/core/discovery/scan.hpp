// Scans a live or captured host and returns its parts.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "discovery/gpus.hpp"
#include "os/fs/file_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// Facts that files do not contain.
struct ScanOptions {
  std::string host_name;
  std::uint64_t identity = 0;  ///< topology::HostIdentity
  /// RINGLET_SOCKET_IFNAME, in the form of os::NameRule.
  std::string interfaces = {};
  /// false: scan only processors and memory, which takes a tenth of the time.
  bool devices = true;
  /// From an earlier ReadOnlyNode. Without devices, the scan does not read the node again.
  std::optional<topology::NumaNode> only_node = {};
  /// The driver of the machine. Null: no driver; only a captured tree contains GPUs.
  GpuSource* gpus = nullptr;
};

struct HostScan {
  topology::HostView view;
  /// A sentence for each missing fact, which `view` guesses or omits.
  std::vector<std::string> missing;
};

/// Returns the only node of a host, without its memory. Empty if there are several nodes, or if the
/// tree does not contain them. Cost  two files
std::optional<topology::NumaNode> ReadOnlyNode(const os::FileTree& files);

/// Reads NUMA nodes and CPUs from /sys/devices/system/node, the processor from /proc/cpuinfo,
/// memory from /proc/meminfo if nodes lack it, PCI from /sys/bus/pci/devices, interfaces from
/// /sys/class/net, RDMA ports from /sys/class/infiniband, and GPUs from their driver or, in a
/// captured tree, from kGpuTextPath. docs/explanation/discovery.md has the rules.
///
/// A host without NUMA nodes counts as one node with all CPUs.
///
/// Errors  kInvalidArgument  the tree is not from a Linux machine: it lacks /proc/cpuinfo and
///                           /sys/devices/system; the message names the root. Or
///                           `options.interfaces` is malformed
/// Cost    about 20 system calls per GPU, NIC and bridge above them, three per other PCI function
Result<HostScan> Scan(const os::FileTree& files, const ScanOptions& options);

}  // namespace ringlet::discovery
