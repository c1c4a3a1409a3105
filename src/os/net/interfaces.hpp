// The network interfaces of this host, as a list for interface_filter.hpp.
#pragma once
#include <vector>

#include "os/net/interface_filter.hpp"

namespace ringlet::os {

/// All interfaces with their internet addresses, in the kernel's order.
/// Errors  kSystem  the kernel does not tell.
Result<std::vector<Interface>> ListInterfaces();

}  // namespace ringlet::os
