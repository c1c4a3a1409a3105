// The network interfaces of this host, as a list for interface_filter.hpp.
#pragma once
#include <vector>

#include "os/net/interface_filter.hpp"

namespace ringlet::os {

/// All interfaces with their internet addresses, in the kernel's order.
/// Errors  kSystem  the kernel does not report them.
Result<std::vector<Interface>> ListInterfaces();

/// The interfaces of ListInterfaces that have an internet address, by number, in a quarter of its
/// time. Empty if the kernel does not report them this way; ListInterfaces may still succeed.
std::vector<Interface> ListInterfacesWithAddress();

/// The addresses at which ranks of this host can be called, best first. Includes host-local
/// addresses only if no others exist.
/// Errors  kInvalidArgument as UsableAddresses, kSystem as ListInterfaces
Result<std::vector<UsableAddress>> FindReachable(const InterfaceFilter& filter);

}  // namespace ringlet::os
