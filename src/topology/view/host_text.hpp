// The text form of a HostView: for fixtures, `ringlet topo`, and people.
//
//   ringlet-host 1
//   host "node-a" identity 0x1122334455667788
//   cpu arch "x86_64" vendor "GenuineIntel" family 6 model 143 name "Intel(R) Xeon(R) 8480+"
//   numa 0 cpus "0-55,112-167" memory 270000000000 distances "10 21"
//   numa 1 cpus "56-111,168-223" memory 270000000000 distances "21 10"
//   pci 0000:07:00.0 below "numa 0" class 0x030200 speed "32.0 GT/s PCIe" lanes 16
//   gpu 0 dev 0 capability 90 rank 0 gdr 1
//   link nvlink count 18 class 0x068000
//   nic "numa 0"
//   net "eth0" speed 25000 numa 0 nic 0
//   net "eth1"
//
// A gpu names its pci by position, a net its nic; a link (or c2c, with the MB/s of one) is of the
// gpu before it. Other parts of XML come as `attribute NAME of PART value TEXT` and `element XML of
// PART`. A line that starts with # is a comment. Memory is in bytes, speed in Mbit/s.
#pragma once
#include <string>
#include <string_view>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

std::string ToText(const HostView& view);

/// Reads what ToText writes; keys of a line may come in any order, missing ones are unknown.
/// Errors  kInvalidArgument  names the line and what is wrong with it
Result<HostView> ParseText(std::string_view text);

inline constexpr std::size_t kHostTextBytesMax = std::size_t{8} << 20;

}  // namespace ringlet::topology
