// The configuration space of a PCI function: the registers for lspci and drivers. Pure.
#pragma once
#include <string>

#include "testbed/pci_slots.hpp"

namespace ringlet::testbed {

/// Returns 256 bytes: the header, and the PCI Express capability with the link's speed and width.
/// \param device  the slot's device; for a port, the device below it
/// \param ids     of the function itself
std::string ConfigSpaceOf(const PciSlot& slot, const topology::PciDevice& device,
                          const topology::PciIds& ids);

/// Returns the class of a port, or of the device.
topology::PciClass ClassOf(const PciSlot& slot, const topology::PciDevice& device);

}  // namespace ringlet::testbed
