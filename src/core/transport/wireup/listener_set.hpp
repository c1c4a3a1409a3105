// ListenerSet: the sockets at which a rank accepts its peers' connections. The rank opens them
// before its check-in, which carries their addresses. So no peer dials an address too early.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/wire/handshake.hpp"
#include "os/net/entrance.hpp"
#include "os/net/listener.hpp"

namespace ringlet::transport {

struct ListenerSetOptions {
  /// Addresses of the interfaces to listen on; ports are ignored. The listener of a family is bound
  /// to its address, or to any address if there are several.
  std::vector<Address> interfaces;
  std::size_t preferred = 0;  ///< the first this many are equally good, and better than the rest
  Secret seed{};              ///< fresh from the system's random source; names the UNIX socket
  bool unix_listener = true;  ///< for shared memory
};

struct ListenerSet {
  std::vector<os::Listener> listeners;
  std::vector<Address> tcp;   ///< to advertise: each interface with the listener's port
  std::size_t preferred = 0;  ///< ListenerSetOptions::preferred of these, within one family
  Address unix_socket;        ///< to advertise; kNone if absent
  /// os::NamespaceCookie of the listeners.
  std::optional<std::uint64_t> net_namespace = {};
  /// Another source of callers. Null if absent (transport/wireup/shared_listeners).
  std::shared_ptr<os::Entrance> entrance = {};

  /// Errors  kSystem  none of the requested listeners could be opened, or descriptors are exhausted
  ///                  for one of them
  static Result<ListenerSet> Open(const ListenerSetOptions& options);
};

}  // namespace ringlet::transport
