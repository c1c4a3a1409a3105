// Looks at a host, live or captured, and says what it has.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "os/file_tree.hpp"
#include "topology/host_view.hpp"

namespace ringlet::discovery {

/// What the files do not tell.
struct ScanOptions {
  std::string host_name;
  std::uint64_t identity = 0;  ///< topology::HostIdentity
};

struct HostScan {
  topology::HostView view;
  /// A sentence for each thing that was looked for in vain and is guessed or left out in `view`.
  std::vector<std::string> missing;
};

/// Reads NUMA nodes and CPUs from /sys/devices/system/node, the processor from /proc/cpuinfo,
/// memory from /proc/meminfo where nodes do not tell, and interfaces from /sys/class/net.
///
/// Without NUMA nodes the host counts as one node with all CPUs. Interfaces are those with a device
/// behind them; only where there are none, as in a container, the virtual ones that are up, but not
/// loopback and not the host's side of containers (docker*, veth*, virbr*, br-*): those come and
/// go, and ranks of one host shall see one host.
///
/// Errors  kInvalidArgument  the tree is none of a Linux machine: neither /proc/cpuinfo nor
///                           /sys/devices/system; the sentence names the root
Result<HostScan> Scan(const os::FileTree& files, const ScanOptions& options);

}  // namespace ringlet::discovery
