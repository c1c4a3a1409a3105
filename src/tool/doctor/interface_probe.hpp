// The interfaces of this host: which ones a communicator uses, in which order, and why.
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

/// Returns the addresses that this host advertises: the first of each interface, best first.
/// Returns loopback if there are no others.
std::vector<Address> AdvertisedAddresses(const EnvMap& environment);

/// Formats an address without its port: "10.0.0.5", "fe80::1%2".
std::string AddressText(const Address& address);

}  // namespace ringlet::cli
