// The kernel's list of internet addresses, read through rtnetlink(7).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/value/bytes.hpp"
#include "os/fs/fd.hpp"
#include "os/net/interface_filter.hpp"

namespace ringlet::os {

struct ListedAddress {
  std::uint32_t interface = 0;  ///< index
  std::string label;  ///< of the address, such as "eth0:1"; empty if equal to the interface's name
  InterfaceAddress own;

  bool operator==(const ListedAddress&) const = default;
};

struct AddressMessages {
  std::vector<ListedAddress> addresses;
  bool ended = false;  ///< these are the last messages
};

/// Parses one datagram of the kernel's answer to RTM_GETADDR. Pure; leaves out addresses of other
/// families.
/// Errors  kProtocol     the messages or their attributes are cut short
///         kUnsupported  the kernel refuses, or reports that the list changed meanwhile
Result<AddressMessages> ParseAddressMessages(View datagram);

/// A socket for address requests to the kernel, and for ioctl(2) on interfaces. Errors  kSystem
Result<Fd> OpenRouteSocket();

/// All addresses, IPv4 first. Takes about 20 us; getifaddrs(3) also reads the statistics of all
/// interfaces.
/// \param socket  of OpenRouteSocket, not used for this before
/// Errors  kSystem, kUnsupported, kProtocol  getifaddrs(3) may still succeed
Result<std::vector<ListedAddress>> ListAddresses(const Fd& socket);

}  // namespace ringlet::os
