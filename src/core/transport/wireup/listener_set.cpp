#include "transport/wireup/listener_set.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <optional>

#include "os/process/host.hpp"

namespace ringlet::transport {
namespace {

std::string SocketName(const Secret& seed) {
  constexpr std::size_t kNameBytes = 16;
  const Secret hash = KeyedHash(seed, {AsView("ringlet endpoint 1")});
  std::string name = "ringlet-";
  for (const std::byte b : View(hash).first(kNameBytes))
    name += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return name;
}

// Opens one listener for all interfaces of a family.
Status OpenFamily(Address::Kind kind, const ListenerSetOptions& options, ListenerSet& endpoint) {
  std::vector<Address> own;
  std::size_t preferred = 0;
  for (std::size_t i = 0; i < options.interfaces.size(); ++i) {
    if (options.interfaces[i].kind != kind) continue;
    own.push_back(options.interfaces[i]);
    if (i < options.preferred) ++preferred;
  }
  if (own.empty()) return Ok();
  Address at;
  at.kind = kind;
  if (own.size() == 1) at = own.front();
  at.port = 0;
  RINGLET_TRY_ASSIGN(os::Listener listener, os::Listen(at));
  if (endpoint.tcp.empty()) endpoint.preferred = preferred;
  for (Address& address : own) {
    address.port = listener.address.port;
    endpoint.tcp.push_back(std::move(address));
  }
  endpoint.listeners.push_back(std::move(listener));
  return Ok();
}

}  // namespace

Result<ListenerSet> ListenerSet::Open(const ListenerSetOptions& options) {
  ListenerSet endpoint;
  std::optional<Error> trouble;
  for (const Address::Kind kind : {Address::Kind::kIpv4, Address::Kind::kIpv6}) {
    auto opened = OpenFamily(kind, options, endpoint);
    if (!opened.ok()) trouble = std::move(opened).error();  // such as on a host without IPv6
  }
  if (options.unix_listener) {
    auto listener = os::Listen(Address::Unix(SocketName(options.seed)));
    if (listener.ok()) {
      endpoint.unix_socket = listener->address;
      endpoint.listeners.push_back(std::move(listener).value());
    } else {
      trouble = std::move(listener).error();
    }
  }
  // IPv6 may be missing on purpose. Exhausted descriptors would make a listener missing by chance.
  const bool exhausted = trouble && (trouble->os_errno == EMFILE || trouble->os_errno == ENFILE);
  if (trouble && (exhausted || endpoint.listeners.empty())) return *trouble;
  if (!endpoint.listeners.empty())
    endpoint.net_namespace = os::NamespaceCookie(endpoint.listeners.front().fd.get());
  return endpoint;
}

}  // namespace ringlet::transport
