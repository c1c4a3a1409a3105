// The PCI functions of a machine, as /sys has them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "discovery/sysfs.hpp"
#include "topology/view/cpu_set.hpp"
#include "topology/view/pci.hpp"

namespace ringlet::discovery {

/// How fast a link is or can be: nothing known is generation 0, no text and width 0.
struct PciLink {
  topology::PcieSpeed speed = {};
  std::uint16_t width = 0;  ///< lanes
  bool operator==(const PciLink&) const = default;
};

constexpr std::uint16_t kNvidiaVendor = 0x10de;

struct PciFunction {
  topology::BusId bus;
  std::string path;                         ///< its folder, from the root of the tree
  std::vector<topology::BusId> above = {};  ///< the functions that it hangs on, nearest first
  std::optional<topology::PciClass> device_class = {};

  // The rest is filled by ReadDetails.
  topology::PciIds ids = {};
  PciLink max = {};                        ///< the capability of the function itself
  PciLink current = {};                    ///< its present state; an idle one may have slowed down
  std::optional<std::uint32_t> numa = {};  ///< the kernel's node; -1 is unknown
  topology::CpuSet local_cpus = {};        ///< empty: unknown
  std::optional<topology::BusId> physical = {};  ///< of a virtual function: the one it is made of
};

/// All functions of /sys/bus/pci/devices in the order of their addresses, without details.
/// Cost  two system calls a function.
std::vector<PciFunction> ListPci(Sysfs& sysfs);

/// Fills what ListPci left out.
void ReadDetails(Sysfs& sysfs, PciFunction& function);

/// The function at `bus`, or null. `functions` is in order.
const PciFunction* Find(const std::vector<PciFunction>& functions, topology::BusId bus);

/// The slower of what a function and the port above it can do: what a link can do in its slot.
/// Unknown counts as no limit; where both are unknown, so is the result.
/// Source  NCCL compares a device's max_link_speed and max_link_width with those of its upstream
///         port in the same way.
PciLink Slower(const PciLink& a, const PciLink& b);

/// The links of all bridges, GPUs and NICs below another function, as they are and as both ends can
/// have them.
/// Cost  some six system calls a function
std::vector<topology::LinkState> ReadLinkStates(const os::FileTree& files);

/// Switches that are joined with `bus` below, as Broadcom's driver tells, if `ids` are a Broadcom
/// switch's. Only such that exist.
/// Source  NCCL reads them in the same place, and only for vendor 0x1000.
std::vector<topology::BusId> ReadPeers(Sysfs& sysfs, const std::vector<PciFunction>& functions,
                                       topology::BusId bus, const topology::PciIds& ids);

}  // namespace ringlet::discovery
