// Runs one Meeting on the thread of a SocketDriver while another thread waits for its outcome.
#pragma once
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <vector>

#include "os/socket_driver.hpp"
#include "transport/meeting.hpp"

namespace ringlet::transport {

/// A peer that was met, and the socket to it.
struct MetLine {
  Met met;
  os::Fd socket;
};

struct SessionParts {
  MeetingConfig meeting;
  std::vector<os::Listener> listeners;
  std::function<void(const Note&)> note = {};
};

/// Blocks until the meeting has ended or `abort` was requested; the meeting is then over.
/// Errors  those of Meeting; kAborted
Result<std::vector<MetLine>> RunSession(SessionParts parts, os::SocketDriver& driver,
                                        const std::stop_token& abort);

}  // namespace ringlet::transport
