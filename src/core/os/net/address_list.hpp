// The kernel's list of internet addresses, by rtnetlink(7).
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
  std::string label;            ///< of the address, such as "eth0:1"; empty: as its interface
  InterfaceAddress own;

  bool operator==(const ListedAddress&) const = default;
};

struct AddressMessages {
  std::vector<ListedAddress> addresses;
  bool ended = false;  ///< there is nothing after these
};

/// One datagram of the kernel's answer to RTM_GETADDR. Pure; addresses of other families are left
/// out.
/// Errors  kProtocol     the messages or their attributes are cut short
///         kUnsupported  the kernel refuses, or says that the list changed meanwhile
Result<AddressMessages> ParseAddressMessages(View datagram);

/// A socket to ask the kernel for addresses; it also takes ioctl(2) for interfaces.
/// Errors  kSystem
Result<Fd> OpenRouteSocket();

/// All of them, IPv4 first. Some 20 us: getifaddrs(3) also reads the statistics of all interfaces.
/// \param socket  of OpenRouteSocket, not used for this before
/// Errors  kSystem, kUnsupported, kProtocol  where getifaddrs(3) may know more
Result<std::vector<ListedAddress>> ListAddresses(const Fd& socket);

}  // namespace ringlet::os
