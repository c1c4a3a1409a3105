// The network interfaces of this host, as a list for interface_filter.hpp.
#pragma once
#include <vector>

#include "os/net/interface_filter.hpp"

namespace ringlet::os {

/// All interfaces with their internet addresses, in the kernel's order.
/// Errors  kSystem  the kernel does not tell.
Result<std::vector<Interface>> ListInterfaces();

/// Those that have an internet address, as in ListInterfaces, in the order of their numbers; for a
/// quarter of its time. Empty where the kernel does not tell them so: ListInterfaces may.
std::vector<Interface> ListInterfacesWithAddress();

/// The addresses at which ranks of this host are called, best first: those that mean something else
/// on another host only where there are no others.
/// Errors  kInvalidArgument as UsableAddresses, kSystem as ListInterfaces
Result<std::vector<UsableAddress>> FindReachable(const InterfaceFilter& filter);

}  // namespace ringlet::os
