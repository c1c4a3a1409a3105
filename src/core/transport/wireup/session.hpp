// RunSession: runs a Wireup on a SocketDriver's thread while another thread waits for the outcome.
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

/// A peer that has been met, and the socket to it.
struct ConnectedPeerLine {
  ConnectedPeer met;
  os::Fd socket;
};

struct SessionParts {
  WireupConfig wireup;
  std::vector<os::Listener> listeners;
  std::shared_ptr<os::Entrance> entrance = {};
  std::function<void(const Note&)> note = {};
  /// Called on the driver's thread with each peer, identified by its index in the wireup, as soon
  /// as it is met. May be called for a moment after RunSession has returned, and again for a peer
  /// that lost its first line.
  std::function<void(std::size_t peer, ConnectedPeerLine)> met = {};
};

/// Blocks until the wireup has ended or `abort` was requested, which ends the wireup. Returns all
/// met peers in the order of the wireup, or an empty list if `parts.met` received them.
/// Errors  as Wireup; kAborted
Result<std::vector<ConnectedPeerLine>> RunSession(SessionParts parts, os::SocketDriver& driver,
                                                  const std::stop_token& abort);

}  // namespace ringlet::transport
