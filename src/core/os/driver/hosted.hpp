// A machine that a SocketDriver runs, with the sockets and callbacks of its owner.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/wire/machine.hpp"
#include "os/net/entrance.hpp"
#include "os/net/listener.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

/// Identifies one machine of a driver, which never reuses a number.
using MachineId = std::uint64_t;

/// A machine and its environment.
struct Hosted {
  std::shared_ptr<Machine> machine;
  std::vector<Listener> listeners;  ///< callers on these become the machine's Accepted connections
  std::shared_ptr<Entrance> entrance = {};  ///< a second source of such callers; may be null
  /// The first four bytes that ranks and roots send at once. Empty if they do not, or differ. With
  /// a greeting, the kernel holds silent TCP callers for a second. After many callers with other
  /// first bytes it drops the data of such callers, and a note reports that.
  std::string_view greeting = {};
  /// Hangs up at once on callers over UNIX sockets from other users except root, and closes
  /// connections that it dials to such processes.
  bool own_user_only = false;
  /// Called after every batch of events of the machine, to check its results and wake threads.
  std::function<void()> changed = {};
  /// Receives the socket of a detached connection: connected, non-blocking, owned by the callee.
  std::function<void(LineId, Fd)> detached = {};
  std::function<void(const Note&)> note = {};  ///< receives notes for the log
  /// Called if memory for the machine's work ran out, so that its progress is unknown. The driver
  /// then removes the machine and closes its connections. May be called twice. If it is empty the
  /// machine stays, and only the last event is lost.
  std::function<void(const Error&)> failed = {};
};

}  // namespace ringlet::os
