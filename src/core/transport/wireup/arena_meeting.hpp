// Arena meeting: the first rank of a host creates an arena and passes its descriptor to the other
// ranks of the host over a UNIX socket.
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
  std::string host;           ///< name of the host, for errors
  std::vector<Rank> members;  ///< of this host and one network namespace; the same list on all
  std::uint32_t self = 0;     ///< this rank's index in `members`
  ArenaShape shape;           ///< valid, with one rank per member; the same on all
  Instant deadline{};         ///< of os::SocketDriver::Now
  WireupLimits limits = {};
};

struct ArenaTools {
  os::SocketDriver& driver;  ///< another thread runs it
  std::stop_token abort = {};
  std::function<void(const Note&)> note = {};  ///< called on the driver's thread
};

/// The first member's offer to the other members. The other members' own offer is empty.
struct ArenaOffer {
  std::shared_ptr<Arena> arena;
  // Set if creating the arena failed. The other members then fail, too.
  std::optional<Error> why_not;
  std::vector<os::Listener> listeners;  ///< addresses at which it passes out the arena
};

/// Returns the abstract address at which the first of `members` listens. Only holders of the secret
/// can derive it.
Address ArenaAddress(const Credentials& credentials, Rank first);

/// Does not block. If creating an arena fails, the first member still makes an offer, so that the
/// other members do not wait.
/// Errors  kSystem  descriptors are exhausted, or the address is in use
Result<ArenaOffer> OfferArena(const ArenaRequest& request);

/// Blocks until this rank has mapped the arena and touched its posts. All members call it.
/// Errors  kTimeout, kAborted, kPeerLost  as Connect
///         kProtocol  the first member's memory is not an arena of this shape
///         kSystem    memory or descriptors are exhausted
Result<std::shared_ptr<Arena>> ShareArena(const ArenaRequest& request, ArenaOffer offer,
                                          const ArenaTools& tools);

}  // namespace ringlet::transport
