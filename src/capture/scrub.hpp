// Removes data that identifies a machine or its owner: serial numbers, addresses.
#pragma once
#include <vector>

#include "capture/tar.hpp"

namespace ringlet::discovery {

/// Keeps the parts of each file that discovery uses, and replaces remaining addresses by numbers.
/// Equal addresses get equal numbers, so the topology stays.
///
///   proc/cpuinfo     only the keys that ParseCpuInfo and CountCpus read (Arm has serial numbers)
///   .../meminfo      only MemTotal
///   .../uevent       only DEVTYPE
///   sys_image_guid   0000:0000:0000:0001 and so on (it is made from a MAC address)
///   names            that end in a MAC address or a GUID, as enx001122334455 does
///   UUIDs            in paths, as Hyper-V makes from MAC addresses
///
/// No other file of discovery can hold an address.
std::vector<TarEntry> Scrub(std::vector<TarEntry> entries);

}  // namespace ringlet::discovery
