#include "os/net/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "os/error.hpp"
#include "os/fs/fd.hpp"
#include "os/net/address_list.hpp"

namespace ringlet::os {
namespace {

std::uint32_t BitsOf(std::span<const std::uint8_t> mask) {
  std::uint32_t bits = 0;
  for (const std::uint8_t byte : mask) bits += static_cast<std::uint32_t>(std::popcount(byte));
  return bits;
}

/// Copies the bytes of an internet address, with memcpy because a sockaddr may be unaligned.
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

bool IsRunning(unsigned flags) {
  return (flags & IFF_UP) != 0 && (flags & IFF_RUNNING) != 0;
}

/// Returns the interface without addresses, or empty if it has disappeared.
std::optional<Interface> InterfaceOf(const Fd& socket, std::uint32_t index) {
  ifreq request{};
  request.ifr_ifindex = static_cast<int>(index);
  if (::ioctl(socket.get(), SIOCGIFNAME, &request) != 0) return std::nullopt;
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) != 0) return std::nullopt;
  const auto flags = static_cast<std::uint16_t>(request.ifr_flags);
  return Interface{request.ifr_name, IsRunning(flags), {}};
}

}  // namespace

std::vector<Interface> ListInterfacesWithAddress() {
  const auto socket = OpenRouteSocket();
  auto listed = socket.ok() ? ListAddresses(*socket) : socket.error();
  if (!listed.ok()) return {};
  std::ranges::stable_sort(*listed, {}, &ListedAddress::interface);
  std::vector<Interface> interfaces;
  std::optional<Interface> current;
  std::uint32_t index = 0;
  for (const ListedAddress& one : *listed) {
    if (one.interface != index) current = InterfaceOf(*socket, index = one.interface);
    if (!current) continue;
    const std::string& name = one.label.empty() ? current->name : one.label;
    auto at = std::ranges::find(interfaces, name, &Interface::name);
    if (at == interfaces.end()) at = interfaces.insert(at, Interface{name, current->running, {}});
    at->addresses.push_back(one.own);
  }
  return interfaces;
}

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
      at = interfaces.insert(at, Interface{std::string(name), IsRunning(entry->ifa_flags), {}});
    }
    if (const auto address = AddressOf(*entry)) at->addresses.push_back(*address);
  }
  return interfaces;
}

Result<std::vector<UsableAddress>> FindReachable(const InterfaceFilter& filter) {
  auto found = UsableAddresses(ListInterfacesWithAddress(), filter);
  if (!found.ok()) {  // the error names interfaces without an address too
    RINGLET_TRY_ASSIGN(const auto all, ListInterfaces());
    found = UsableAddresses(all, filter);
  }
  RINGLET_TRY_ASSIGN(auto usable, std::move(found));
  if (!std::ranges::all_of(usable, &UsableAddress::host_local))
    std::erase_if(usable, [](const UsableAddress& one) { return one.host_local(); });
  return usable;
}

}  // namespace ringlet::os
