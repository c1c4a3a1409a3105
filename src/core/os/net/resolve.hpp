// Host names to addresses.
#pragma once
#include <string_view>

#include "base/value/address.hpp"

namespace ringlet::os {

/// "host:port", "1.2.3.4:port", "[ipv6]:port" or "[ipv6%interface]:port". The first address that
/// the system's resolver gives is taken. Errors  kInvalidArgument  malformed, or the name is not
/// known; the sentence quotes it.
Result<Address> Resolve(std::string_view host_and_port);

}  // namespace ringlet::os
