// Addresses and folders of /sys for the PCI devices of a machine, and for the ports between them,
// which a topology file leaves out. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::testbed {

/// A bus, and the folder of what it hangs on: a host bridge or a port.
struct PciBusFolder {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::string path;
  std::uint32_t numa = 0;  ///< index into HostView::numa_nodes
};

/// A function of PCI.
struct PciSlot {
  enum class Level : std::uint8_t { kDevice, kRootPort, kDownstreamPort };

  Level level = Level::kDevice;
  topology::BusId bus = {};
  std::string path = {};     ///< "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"
  std::uint32_t device = 0;  ///< index into HostView::pci; of a port: the device below it
  std::uint32_t above = 0;   ///< of a downstream port: the switch that it is a port of
  std::uint32_t numa = 0;    ///< index into HostView::numa_nodes
  /// Of a bridge: the bus that it is at, the one below, and the last one below; 0: none.
  std::uint8_t primary = 0, secondary = 0, subordinate = 0;
  std::uint32_t function_of_card = 0;  ///< counts the functions of one network card
};

struct PciLayout {
  std::vector<PciSlot> slots;  ///< parents first
  std::vector<PciBusFolder> buses;
};

/// Discovery skips every other function on the way up, as NCCL does: a switch is one device with
/// both of its levels. So there is one port above each device, at a bus that the file leaves free,
/// as the real one was. A device at bus 0, as in a virtual machine, has no port.
///
/// Folders nest also where buses do not, as in files of several domains.
///
/// \param taken  addresses that no port may have
/// \pre   view.Check() has passed
PciLayout LayOutPci(const topology::HostView& view, const std::set<topology::BusId>& taken);

}  // namespace ringlet::testbed
