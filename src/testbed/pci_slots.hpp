// Assigns addresses and folders of /sys to the PCI devices of a machine and to the ports between
// them. Topology files leave out these ports. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::testbed {

/// A bus, and the folder of its parent: a host bridge or a port.
struct PciBusFolder {
  std::uint32_t domain = 0;
  std::uint8_t bus = 0;
  std::string path;
  std::uint32_t numa = 0;  ///< index into HostView::numa_nodes
};

struct PciSlot {
  enum class Level : std::uint8_t { kDevice, kRootPort, kDownstreamPort };

  Level level = Level::kDevice;
  topology::BusId bus = {};
  std::string path = {};     ///< "/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0"
  std::uint32_t device = 0;  ///< index into HostView::pci; for a port, the device below it
  std::uint32_t above = 0;   ///< for a downstream port: its switch
  std::uint32_t numa = 0;    ///< index into HostView::numa_nodes
  /// For a bridge: its own bus, the one below, and the last one below. 0 otherwise.
  std::uint8_t primary = 0, secondary = 0, subordinate = 0;
  std::uint32_t function_of_card = 0;  ///< index among the functions of one network card
};

struct PciLayout {
  std::vector<PciSlot> slots;  ///< parents first
  std::vector<PciBusFolder> buses;
};

/// Lays out the PCI devices of `view`. Discovery skips every other function on the way up, as NCCL
/// does, so a switch is one device for both of its levels. So the layout adds one port above each
/// device, at a bus left free by the file, as the real port was. A device at bus 0, as in a virtual
/// machine, has no port.
///
/// Folders nest also if buses do not, as in files of several domains.
///
/// \param taken  addresses reserved from ports
/// \pre   view.Check() has passed
PciLayout LayOutPci(const topology::HostView& view, const std::set<topology::BusId>& taken);

}  // namespace ringlet::testbed
