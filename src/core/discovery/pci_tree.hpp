// The PCI functions of a machine, from /sys.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "discovery/sysfs.hpp"
#include "topology/view/cpu_set.hpp"
#include "topology/view/pci.hpp"

namespace ringlet::discovery {

/// The current or maximum speed of a link. Unknown: generation 0, no text, width 0.
struct PciLink {
  topology::PcieSpeed speed = {};
  std::uint16_t width = 0;  ///< lanes
  bool operator==(const PciLink&) const = default;
};

constexpr std::uint16_t kNvidiaVendor = 0x10de;

struct PciFunction {
  topology::BusId bus;
  std::string path;                         ///< its folder from the root of the tree
  std::vector<topology::BusId> above = {};  ///< its ancestors, nearest first
  std::optional<topology::PciClass> device_class = {};

  // ReadDetails fills the fields below.
  topology::PciIds ids = {};
  PciLink max = {};                        ///< the capability of the function itself
  PciLink current = {};                    ///< the current state; an idle link may have slowed down
  std::optional<std::uint32_t> numa = {};  ///< the kernel's node; -1 is unknown
  topology::CpuSet local_cpus = {};        ///< empty: unknown
  std::optional<topology::BusId> physical = {};  ///< of a virtual function: its physical function
};

/// Returns all functions of /sys/bus/pci/devices in address order, without details.
/// Cost  two system calls per function.
std::vector<PciFunction> ListPci(Sysfs& sysfs);

/// Fills the fields that ListPci leaves empty.
void ReadDetails(Sysfs& sysfs, PciFunction& function);

/// Returns the function at `bus`, or null. \pre  `functions` is sorted
const PciFunction* Find(const std::vector<PciFunction>& functions, topology::BusId bus);

/// Returns the slower limit of a function and the port above it, which limits the link. An unknown
/// limit is ignored; if both are unknown, so is the result.
/// Source  NCCL compares a device's max_link_speed and max_link_width with those of its upstream
///         port in the same way.
PciLink Slower(const PciLink& a, const PciLink& b);

/// Returns state and common limit of the links of all bridges, GPUs and NICs below a function.
/// Cost  about six system calls per function
std::vector<topology::LinkState> ReadLinkStates(const os::FileTree& files);

/// Returns existing switches that are joined with `bus` below, as Broadcom's driver reports. Empty
/// if `ids` are not from a Broadcom switch.
/// Source  NCCL reads them from the same files, and only for vendor 0x1000.
std::vector<topology::BusId> ReadPeers(Sysfs& sysfs, const std::vector<PciFunction>& functions,
                                       topology::BusId bus, const topology::PciIds& ids);

}  // namespace ringlet::discovery
