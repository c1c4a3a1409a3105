// Takes what identifies a machine or its owner out of a captured tree: serial numbers, addresses.
#pragma once
#include <vector>

#include "capture/tar.hpp"

namespace ringlet::discovery {

/// Keeps of each file what discovery uses, and replaces what is left of addresses by numbers: equal
/// ones by equal ones, so that the topology stays.
///
///   proc/cpuinfo     only the keys that ParseCpuInfo and CountCpus read (Arm has serial numbers)
///   .../meminfo      only MemTotal
///   .../uevent       only DEVTYPE
///   sys_image_guid   0000:0000:0000:0001 and so on (it is made from a MAC address)
///   names            that end in a MAC address or a GUID, as enx001122334455 does
///   UUIDs            in paths, as Hyper-V makes from MAC addresses
///
/// No other file that discovery reads can hold an address.
std::vector<TarEntry> Scrub(std::vector<TarEntry> entries);

}  // namespace ringlet::discovery
