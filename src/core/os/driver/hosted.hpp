// A machine that a SocketDriver runs, with the sockets and callbacks that its owner gives with it.
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

/// Names one machine of a driver. A driver gives each number once.
using MachineId = std::uint64_t;

/// A machine and what surrounds it.
struct Hosted {
  std::shared_ptr<Machine> machine;
  std::vector<Listener> listeners;  ///< callers on these become the machine's Accepted lines
  std::shared_ptr<Entrance> entrance = {};  ///< as do those who come here; may be null
  /// The four bytes with which ranks and roots begin, at once; empty if they do not, or not alike.
  /// Callers over TCP that say nothing are left to the kernel for a second then. When many have
  /// begun otherwise it drops what such callers send, and a note says so.
  std::string_view greeting = {};
  /// Callers on UNIX sockets of other users, but root, are hung up on at once; and a line that it
  /// dials to such a process is closed.
  bool own_user_only = false;
  /// After every batch of events that the machine handled: look at its results, wake who waits.
  std::function<void()> changed = {};
  /// The socket of a line that the machine detached: connected, non-blocking, yours.
  std::function<void(LineId, Fd)> detached = {};
  std::function<void(const Note&)> note = {};  ///< for the log
  /// There was no memory for the machine's work, and how much of it is done is unknown: it is
  /// removed after this, and its lines close. May be called twice. If it is empty the machine
  /// stays, and only the last event is lost.
  std::function<void(const Error&)> failed = {};
};

}  // namespace ringlet::os
