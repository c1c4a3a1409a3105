// How the ranks of a host come to share an arena: the first of them makes it and hands its
// descriptor to the others over a UNIX socket.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "os/driver/socket_driver.hpp"
#include "transport/arena/arena.hpp"
#include "transport/wireup/wireup.hpp"

namespace ringlet::transport {

struct ArenaRequest {
  Credentials credentials;    ///< of the communicator
  Secret nonce_seed{};        ///< fresh from the system's random source
  std::string host;           ///< its name, for errors
  std::vector<Rank> members;  ///< of this host, in one network namespace; the same list on all
  std::uint32_t self = 0;     ///< this rank's place among them
  ArenaShape shape;           ///< valid, with as many ranks as members; the same on all
  Instant deadline{};         ///< of os::SocketDriver::Now
  WireupLimits limits = {};
};

struct ArenaTools {
  os::SocketDriver& driver;  ///< run by another thread
  std::stop_token abort = {};
  std::function<void(const Note&)> note = {};  ///< called on the driver's thread
};

/// The first member's offer to the others; of these, nothing.
struct ArenaOffer {
  std::shared_ptr<Arena> arena;
  std::optional<Error> why_not;         // of the first, without an arena: the others come in vain
  std::vector<os::Listener> listeners;  ///< where it hands it out
};

/// The abstract name under which the first of `members` is called. Known to those who hold the
/// secret only.
Address ArenaAddress(const Credentials& credentials, Rank first);

/// Does not block. Without memory for an arena there is an offer all the same, of nothing: the
/// others must not wait.
/// Errors  kSystem  no descriptors left, or its address is taken
Result<ArenaOffer> OfferArena(const ArenaRequest& request);

/// Blocks until the arena is there, with the posts of this rank in memory. All members call it.
/// Errors  kTimeout, kAborted, kPeerLost  as Connect
///         kProtocol  what the first member sent is no arena of this shape
///         kSystem    no memory or descriptors left
Result<std::shared_ptr<Arena>> ShareArena(const ArenaRequest& request, ArenaOffer offer,
                                          const ArenaTools& tools);

}  // namespace ringlet::transport
