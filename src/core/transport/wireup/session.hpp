// Runs one Wireup on the thread of a SocketDriver while another thread waits for its outcome.
#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "os/driver/socket_driver.hpp"
#include "transport/wireup/wireup.hpp"

namespace ringlet::transport {

/// A peer that was met, and the socket to it.
struct MetLine {
  Met met;
  os::Fd socket;
};

struct SessionParts {
  WireupConfig wireup;
  std::vector<os::Listener> listeners;
  std::shared_ptr<os::Entrance> entrance = {};
  std::function<void(const Note&)> note = {};
  /// Given each peer, by its place in the wireup, as soon as it has come, on the driver's thread,
  /// perhaps for a moment after RunSession has returned. A peer whose first line broke may come
  /// again.
  std::function<void(std::size_t peer, MetLine)> met = {};
};

/// Blocks until the wireup has ended or `abort` was requested; the wireup is then over. Gives all
/// peers that it has met, in the order of the wireup, or none if `parts.met` was given them.
/// Errors  those of Wireup; kAborted
Result<std::vector<MetLine>> RunSession(SessionParts parts, os::SocketDriver& driver,
                                        const std::stop_token& abort);

}  // namespace ringlet::transport
