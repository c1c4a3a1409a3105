// The interfaces of this host: which would be used, in which order, and why.
#pragma once
#include <string>
#include <vector>

#include "base/settings/env_map.hpp"
#include "base/value/address.hpp"
#include "doctor/facts.hpp"
#include "os/fs/file_tree.hpp"

namespace ringlet::cli {

std::vector<doctor::InterfaceReport> ProbeInterfaces(const os::FileTree& files,
                                                     const EnvMap& environment);

/// The addresses of this host that others are told, the first of each interface, best first.
/// Without any, loopback is one.
std::vector<Address> AdvertisedAddresses(const EnvMap& environment);

/// Without its port: "10.0.0.5", "fe80::1%2".
std::string AddressText(const Address& address);

}  // namespace ringlet::cli
