// The endpoints of a process: one listener of each kind for all that is called there.
//
// A caller's Hello names a communicator and a purpose, and the machine that serves these takes the
// line over (base/wire/reception). If several ranks of a process have the same communicator each
// has an endpoint of its own, which it shares with ranks of other communicators. So their number
// does not grow with that of communicators. One stays open for the next communicator; the others
// are closed when no rank uses them any more.
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
    /// For a caller to say whom it looks for, and then for the entrance to open.
    Instant timeout = std::chrono::seconds(10);
    /// Callers of an endpoint that have not said it, and those of a closed entrance.
    std::size_t half_open_max = 4096;
    std::function<void(const Note&)> note = {};  ///< called on the driver's thread
  };
  /// \param driver  runs the endpoints; outlives this
  SharedListeners(os::SocketDriver& driver, Options options);
  /// Closes them all: listeners opened here are called no more.
  ~SharedListeners();
  SharedListeners(const SharedListeners&) = delete;
  SharedListeners& operator=(const SharedListeners&) = delete;

  /// An endpoint at which `key` is called, with an entrance instead of listeners. A caller that
  /// comes before the entrance is opened waits, for Options::timeout at most. Any thread.
  /// \param options  its seed names the UNIX socket of an endpoint that is made for this
  /// Errors  as Endpoint::Open
  Result<ListenerSet> Open(const ListenerSetOptions& options, const ServiceKey& key);

  /// The UNIX socket of the endpoint at which `key` is called in this process; empty: it is not, or
  /// there is none. Shorter to go than a network's address. Any thread.
  std::optional<Address> UnixSocketOf(const ServiceKey& key) const;

  /// How many there are now.
  std::size_t size() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace ringlet::transport
