// The place where a rank waits for its peers' calls. Opened before check-in, so that its addresses
// travel with the check-in and no peer ever dials a door that is not there yet.
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
  /// Addresses of the interfaces to be reached at; ports are ignored. With one address of a family
  /// the listener is bound to it, with several to any address of that family.
  std::vector<Address> interfaces;
  std::size_t preferred = 0;  ///< the first so many are as good as each other, better than the rest
  Secret seed{};              ///< fresh from the system's random source; names the UNIX socket
  bool unix_listener = true;  ///< for shared memory
};

struct ListenerSet {
  std::vector<os::Listener> listeners;
  std::vector<Address> tcp;   ///< to advertise: each interface with its listener's port
  std::size_t preferred = 0;  ///< ListenerSetOptions::preferred of these, of one family
  Address unix_socket;        ///< to advertise; kNone without one
  /// os::NamespaceCookie of the listeners.
  std::optional<std::uint64_t> net_namespace = {};
  /// The other way by which callers come; null without one (transport/wireup/shared_listeners).
  std::shared_ptr<os::Entrance> entrance = {};

  /// Errors  kSystem  not a single listener could be opened although one was asked for; or there
  ///                  are no descriptors left for one of them
  static Result<ListenerSet> Open(const ListenerSetOptions& options);
};

}  // namespace ringlet::transport
