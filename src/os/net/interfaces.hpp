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

}  // namespace ringlet::os
