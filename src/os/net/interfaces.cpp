#include "os/net/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "os/net/sockaddr.hpp"

namespace ringlet::os {
namespace {

std::uint32_t BitsOf(std::span<const std::uint8_t> mask) {
  std::uint32_t bits = 0;
  for (const std::uint8_t byte : mask) bits += static_cast<std::uint32_t>(std::popcount(byte));
  return bits;
}

/// The bytes of an internet address; memcpy, because a sockaddr may not be aligned for its kind.
std::span<const std::uint8_t> CopyIp(const sockaddr* from, Address& to) {
  if (from->sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, from, sizeof in);
    std::memcpy(to.ip.data(), &in.sin_addr, 4);
    return std::span(to.ip).first(4);
  }
  sockaddr_in6 in{};
  std::memcpy(&in, from, sizeof in);
  std::memcpy(to.ip.data(), &in.sin6_addr, 16);
  to.scope = in.sin6_scope_id;
  return to.ip;
}

std::optional<InterfaceAddress> AddressOf(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr) return std::nullopt;
  const int family = entry.ifa_addr->sa_family;
  if (family != AF_INET && family != AF_INET6) return std::nullopt;
  InterfaceAddress found;
  found.address.kind = family == AF_INET ? Address::Kind::kIpv4 : Address::Kind::kIpv6;
  CopyIp(entry.ifa_addr, found.address);
  if (entry.ifa_netmask != nullptr && entry.ifa_netmask->sa_family == family) {
    Address mask;
    found.prefix_bits = BitsOf(CopyIp(entry.ifa_netmask, mask));
  }
  return found;
}

}  // namespace

Result<std::vector<Interface>> ListInterfaces() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0)
    return SystemError("cannot list the network interfaces of this host", errno);
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, &freeifaddrs);
  std::vector<Interface> interfaces;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    const std::string_view name = entry->ifa_name;
    auto at = std::find_if(interfaces.begin(), interfaces.end(),
                           [&](const Interface& each) { return each.name == name; });
    if (at == interfaces.end()) {
      const bool running =
          (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
      at = interfaces.insert(at, Interface{std::string(name), running, {}});
    }
    if (const auto address = AddressOf(*entry)) at->addresses.push_back(*address);
  }
  return interfaces;
}

}  // namespace ringlet::os
