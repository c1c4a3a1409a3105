// The configuration space of a PCI function: registers as lspci and drivers read them. Pure.
#pragma once
#include <string>

#include "testbed/pci_slots.hpp"

namespace ringlet::testbed {

/// 256 bytes: the header, and the capability of PCI Express with the speed and width of the link.
/// \param device  of the slot; of a port the device below it
/// \param ids     of the function itself
std::string ConfigSpaceOf(const PciSlot& slot, const topology::PciDevice& device,
                          const topology::PciIds& ids);

/// That of a port, or of the device.
topology::PciClass ClassOf(const PciSlot& slot, const topology::PciDevice& device);

}  // namespace ringlet::testbed
