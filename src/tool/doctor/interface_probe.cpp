#include "tool/doctor/interface_probe.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"
#include "os/fs/conf_files.hpp"
#include "os/net/interfaces.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kEndpointsMax = 8;
constexpr std::size_t kNumberBytesMax = 64;

Settings SettingsOf(const EnvMap& environment) {
  auto read = os::ReadSettings(environment);
  return read.ok() ? *std::move(read) : Settings();
}

/// Returns the addresses that a communicator advertises.
std::vector<os::UsableAddress> Reachable(const Settings& settings) {
  auto reachable = os::FindReachable(os::FilterOf(settings));
  return reachable.ok() ? *std::move(reachable) : std::vector<os::UsableAddress>();
}

std::optional<std::uint32_t> NumberIn(const os::FileTree& files, const std::string& path) {
  const auto text = files.Read(path, kNumberBytesMax);
  const auto number = text.ok() ? ParseDecimal(Trim(*text)) : std::nullopt;
  if (!number || *number > 0xffff'ffffu) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::string WhyUsed(const os::UsableAddress& address, const os::InterfaceFilter& filter) {
  if (!filter.names.empty()) return "named by " + filter.names_variable;
  switch (address.tier) {
    case os::InterfaceTier::kSameSubnet: return "in the network of the root";
    case os::InterfaceTier::kFabric: return "a fabric, by its name";
    case os::InterfaceTier::kOrdinary: return "up, with an address";
    case os::InterfaceTier::kContainer:
    case os::InterfaceTier::kLoopback:
    case os::InterfaceTier::kVirtualBridge: break;
  }
  return "chosen for lack of a better one: other hosts cannot use its address";
}

std::string WhyNot(const os::Interface& interface, const os::InterfaceFilter& filter) {
  if (!interface.running) return "down";
  if (interface.addresses.empty()) return "no address";
  if (filter.names.empty()) return "loopback, or internal to containers of this host";
  return fmt::format("{} or {} excludes it", filter.names_variable, filter.family_variable);
}

}  // namespace

std::string AddressText(const Address& address) {
  Address plain = address;
  plain.port = 0;
  std::string text = ToString(plain);
  text = text.substr(0, text.rfind(':'));
  return text.starts_with('[') ? text.substr(1, text.size() - 2) : text;
}

std::vector<doctor::InterfaceReport> ProbeInterfaces(const os::FileTree& files,
                                                     const EnvMap& environment) {
  std::vector<doctor::InterfaceReport> reports;
  const auto interfaces = os::ListInterfaces();
  if (!interfaces.ok()) return reports;
  const Settings settings = SettingsOf(environment);
  const std::vector<os::UsableAddress> usable = Reachable(settings);
  const os::InterfaceFilter filter = os::FilterOf(settings);
  for (const os::Interface& interface : *interfaces) {
    const std::string folder = fmt::format("/sys/class/net/{}", interface.name);
    doctor::InterfaceReport report{.name = interface.name,
                                   .running = interface.running,
                                   .hardware = files.Exists(folder + "/device")};
    report.mtu_bytes = NumberIn(files, folder + "/mtu").value_or(0);
    report.mbit_per_s = NumberIn(files, folder + "/speed");
    for (const os::InterfaceAddress& one : interface.addresses)
      report.addresses.push_back(AddressText(one.address));
    std::uint32_t place = 0;
    std::vector<std::string> before;
    for (const os::UsableAddress& one : usable) {
      if (one.interface == interface.name) {
        report.place = place;
        report.why = WhyUsed(one, filter);
        break;
      }
      if (std::ranges::count(before, one.interface) == 0) ++place;
      before.push_back(one.interface);
    }
    if (!report.place) report.why = WhyNot(interface, filter);
    reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<Address> AdvertisedAddresses(const EnvMap& environment) {
  std::vector<Address> addresses;
  std::vector<std::string> seen;
  for (const os::UsableAddress& one : Reachable(SettingsOf(environment))) {
    if (std::ranges::count(seen, one.interface) > 0 || addresses.size() == kEndpointsMax) continue;
    // Skips link-local addresses, because their scope number is valid on this host only.
    if (one.address.scope != 0) continue;
    seen.push_back(one.interface);
    addresses.push_back(one.address);
  }
  return addresses;
}

}  // namespace ringlet::cli
