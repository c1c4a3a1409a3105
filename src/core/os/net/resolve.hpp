// Resolves host names to addresses.
#pragma once
#include <string_view>

#include "base/value/address.hpp"

namespace ringlet::os {

/// Parses "host:port", "1.2.3.4:port", "[ipv6]:port" or "[ipv6%interface]:port". Returns the first
/// address of the system's resolver.
/// Errors  kInvalidArgument  malformed, or the name is unknown; the message quotes it.
Result<Address> Resolve(std::string_view host_and_port);

}  // namespace ringlet::os
