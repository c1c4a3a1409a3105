// SharedListeners: the endpoints of a process, with one listener of each kind for all services.
//
// A caller's Hello names a communicator and a purpose, and the machine that serves them takes over
// the line (base/wire/reception). If several ranks of a process are in one communicator, each has
// its own endpoint, which it shares with ranks of other communicators. So the number of endpoints
// does not grow with that of communicators. One endpoint stays open for the next communicator. The
// others close when unused.
#pragma once
#include <memory>
#include <optional>

#include "base/wire/reception.hpp"
#include "os/driver/socket_driver.hpp"
#include "transport/wireup/listener_set.hpp"

namespace ringlet::transport {

class SharedListeners {
 public:
  struct Options {
    /// Time for a caller to name its service, and then for the entrance to open.
    Instant timeout = std::chrono::seconds(10);
    /// Maximum number of callers per endpoint without a named service, and per closed entrance.
    std::size_t half_open_max = 4096;
    std::function<void(const Note&)> note = {};  ///< called on the driver's thread
  };
  /// \param driver  runs the endpoints; outlives this
  SharedListeners(os::SocketDriver& driver, Options options);
  /// Closes all endpoints, so that their listeners accept no more callers.
  ~SharedListeners();
  SharedListeners(const SharedListeners&) = delete;
  SharedListeners& operator=(const SharedListeners&) = delete;

  /// Returns an endpoint that serves `key`, with an entrance instead of listeners. A caller that
  /// arrives before the entrance opens waits, at most Options::timeout. Callable from any thread.
  /// \param options  its seed names the UNIX socket of an endpoint that this call opens
  /// Errors  as ListenerSet::Open
  Result<ListenerSet> Open(const ListenerSetOptions& options, const ServiceKey& key);

  /// Returns the UNIX socket of this process's endpoint for `key`, a shorter route than the
  /// network. Empty if either is missing. Callable from any thread.
  std::optional<Address> UnixSocketOf(const ServiceKey& key) const;

  /// Returns the number of open endpoints.
  std::size_t size() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace ringlet::transport
