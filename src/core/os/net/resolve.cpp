#include "os/net/resolve.hpp"

#include <fmt/format.h>
#include <netdb.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <string>

#include "os/net/sockaddr.hpp"

namespace ringlet::os {

Result<Address> Resolve(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  const std::string_view digits = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || port == 0)
    return Error{Code::kInvalidArgument, fmt::format("\"{}\" is not of the form host:port", text)};
  std::string name(text.substr(0, colon));
  if (name.size() > 2 && name.front() == '[' && name.back() == ']')
    name = name.substr(1, name.size() - 2);
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int result = ::getaddrinfo(name.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  if (result != 0 || !found)
    return Error{Code::kInvalidArgument,
                 fmt::format("the host of \"{}\" is not known: {}", text, ::gai_strerror(result))};
  SocketAddress address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.bytes = found->ai_addrlen;
  Address resolved = FromSocketAddress(address);
  resolved.port = port;
  return resolved;
}

}  // namespace ringlet::os
