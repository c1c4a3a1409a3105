#include "os/net/sockaddr.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace ringlet::os {
namespace {

SocketAddress FromIpv4(const Address& address) {
  SocketAddress out;
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(address.port);
  std::memcpy(&in.sin_addr, address.ip.data(), 4);
  std::memcpy(&out.storage, &in, sizeof in);
  out.bytes = sizeof in;
  return out;
}

SocketAddress FromIpv6(const Address& address) {
  SocketAddress out;
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(address.port);
  in.sin6_scope_id = address.scope;
  std::memcpy(&in.sin6_addr, address.ip.data(), 16);
  std::memcpy(&out.storage, &in, sizeof in);
  out.bytes = sizeof in;
  return out;
}

SocketAddress FromUnix(const Address& address) {
  SocketAddress out;
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  const std::size_t bytes = std::min(address.path.size(), sizeof un.sun_path - 1);
  std::memcpy(un.sun_path + 1, address.path.data(), bytes);
  std::memcpy(&out.storage, &un, sizeof un);
  out.bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
  return out;
}

}  // namespace

SocketAddress ToSocketAddress(const Address& address) {
  switch (address.kind) {
    case Address::Kind::kIpv4: return FromIpv4(address);
    case Address::Kind::kIpv6: return FromIpv6(address);
    case Address::Kind::kUnix: return FromUnix(address);
    case Address::Kind::kNone: break;
  }
  return {};
}

Address FromSocketAddress(const SocketAddress& from) {
  Address address;
  if (from.storage.ss_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &from.storage, sizeof in);
    address.kind = Address::Kind::kIpv4;
    address.port = ntohs(in.sin_port);
    std::memcpy(address.ip.data(), &in.sin_addr, 4);
  } else if (from.storage.ss_family == AF_INET6) {
    sockaddr_in6 in;
    std::memcpy(&in, &from.storage, sizeof in);
    address.kind = Address::Kind::kIpv6;
    address.port = ntohs(in.sin6_port);
    address.scope = in.sin6_scope_id;
    std::memcpy(address.ip.data(), &in.sin6_addr, 16);
  } else if (from.storage.ss_family == AF_UNIX) {
    sockaddr_un un;
    std::memcpy(&un, &from.storage, sizeof un);
    const std::size_t prefix = offsetof(sockaddr_un, sun_path) + 1;
    return Address::Unix(from.bytes > prefix ? std::string(un.sun_path + 1, from.bytes - prefix)
                                             : "");
  }
  return address;
}

}  // namespace ringlet::os
