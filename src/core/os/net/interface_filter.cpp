#include "os/net/interface_filter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/settings/setting_table.hpp"
#include "base/value/text.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kNamesMax = 16;  // NCCL's maximum
constexpr std::size_t kShownBytesMax = 200;

bool InFamily(const Address& address, SocketFamily family) {
  if (address.kind == Address::Kind::kIpv4) return family != SocketFamily::kIpv6;
  return address.kind == Address::Kind::kIpv6 && family != SocketFamily::kIpv4 &&
         !address.IsLoopback();
}

bool IsLinkLocal(const Address& address) {
  return address.kind == Address::Kind::kIpv6 && address.ip[0] == 0xfe &&
         (address.ip[1] & 0xc0) == 0x80;
}

bool SameSubnet(const InterfaceAddress& own, const Address& other) {
  if (own.address.kind != other.kind) return false;
  if (IsLinkLocal(other) && other.scope != own.address.scope) return false;
  const std::size_t whole = own.prefix_bits / 8;
  const std::size_t ip_bytes = other.kind == Address::Kind::kIpv4 ? 4 : 16;
  if (own.prefix_bits == 0 || own.prefix_bits > ip_bytes * 8) return false;
  const auto& a = own.address.ip;
  const auto& b = other.ip;
  for (std::size_t i = 0; i < whole; ++i)
    if (a[i] != b[i]) return false;
  const unsigned rest = own.prefix_bits % 8;
  return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

InterfaceTier TierOf(const Interface& interface, const std::optional<Address>& root) {
  const std::string_view name = interface.name;
  const auto reaches = [&](const InterfaceAddress& own) { return SameSubnet(own, *root); };
  if (root && std::any_of(interface.addresses.begin(), interface.addresses.end(), reaches))
    return InterfaceTier::kSameSubnet;
  if (name.starts_with("ib")) return InterfaceTier::kFabric;
  if (name.starts_with("docker")) return InterfaceTier::kContainer;
  if (name.starts_with("virbr")) return InterfaceTier::kVirtualBridge;
  return name == "lo" ? InterfaceTier::kLoopback : InterfaceTier::kOrdinary;
}

int OrderOf(const Address& address) {
  if (address.kind == Address::Kind::kIpv4) return 0;
  return IsLinkLocal(address) ? 2 : 1;
}

std::vector<UsableAddress> AddressesOf(const Interface& interface, const InterfaceFilter& filter) {
  std::vector<UsableAddress> usable;
  for (const InterfaceAddress& own : interface.addresses)
    if (InFamily(own.address, filter.family))
      usable.push_back({interface.name, own.address, TierOf(interface, filter.root)});
  std::stable_sort(usable.begin(), usable.end(), [](const auto& a, const auto& b) {
    return OrderOf(a.address) < OrderOf(b.address);
  });
  return usable;
}

Error NoInterfacePassesError(const std::vector<Interface>& interfaces,
                             const InterfaceFilter& filter) {
  constexpr std::string_view kFamilies[] = {"any", "AF_INET", "AF_INET6"};
  std::string exist;
  for (const Interface& interface : interfaces) {
    if (!exist.empty()) exist += ", ";
    exist += interface.name + (interface.running ? "" : " (not running)");
  }
  return {Code::kInvalidArgument,
          fmt::format("no network interface with a usable address passes {}=\"{}\" and {}={}; "
                      "this host has {}",
                      filter.names_variable, Printable(filter.names, kShownBytesMax),
                      filter.family_variable, kFamilies[static_cast<std::size_t>(filter.family)],
                      exist.empty() ? "none" : Printable(exist, 4 * kShownBytesMax))};
}

}  // namespace

InterfaceFilter FilterOf(const Settings& settings) {
  return {.names = settings.socket_ifname,
          .family = settings.socket_family,
          .names_variable = VariableOf(settings, "SOCKET_IFNAME"),
          .family_variable = VariableOf(settings, "SOCKET_FAMILY")};
}

Result<NameRule> NameRule::Parse(std::string_view text, std::string_view variable) {
  NameRule rule;
  if (text.empty()) return rule;
  std::string_view list = text;
  if (list.starts_with('^')) {
    rule.exclude_ = true;
    list.remove_prefix(1);
  }
  if (list.starts_with('=')) {
    rule.exact_ = true;
    list.remove_prefix(1);
  }
  for (const std::string_view name : Split(list, ',')) rule.names_.emplace_back(name);
  const bool hole = std::any_of(rule.names_.begin(), rule.names_.end(),
                                [](const std::string& name) { return name.empty(); });
  if (hole || rule.names_.size() > kNamesMax) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is \"{}\", but it must be a comma list of 1 to {} "
                             "interface names, with ^ or = in front if wanted",
                             variable, Printable(text, kShownBytesMax), kNamesMax)};
  }
  return rule;
}

bool NameRule::Allows(std::string_view interface) const {
  if (names_.empty()) return true;
  const bool listed = std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
    return exact_ ? interface == name : interface.starts_with(name);
  });
  return listed != exclude_;
}

Result<std::vector<UsableAddress>> UsableAddresses(const std::vector<Interface>& interfaces,
                                                   const InterfaceFilter& filter) {
  RINGLET_TRY_ASSIGN(const NameRule rule, NameRule::Parse(filter.names, filter.names_variable));
  std::vector<UsableAddress> usable;
  for (const Interface& interface : interfaces) {
    if (!interface.running || !rule.Allows(interface.name)) continue;
    const std::vector<UsableAddress> own = AddressesOf(interface, filter);
    usable.insert(usable.end(), own.begin(), own.end());
  }
  if (usable.empty()) return NoInterfacePassesError(interfaces, filter);
  if (filter.names.empty()) {
    std::stable_sort(usable.begin(), usable.end(),
                     [](const auto& a, const auto& b) { return a.tier < b.tier; });
  }
  return usable;
}

}  // namespace ringlet::os
