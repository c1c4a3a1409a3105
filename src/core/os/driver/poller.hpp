// The epoll of a driver: the watched descriptors, and the wait for their events.
#pragma once
#include <sys/epoll.h>

#include <cstdint>
#include <span>

#include "base/wire/machine.hpp"
#include "os/driver/driver_counters.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {

/// The data that epoll returns. A token identifies one descriptor for life and is never reused.
using Token = std::uint64_t;

/// The token of the descriptor that wakes the driver. Connections and listeners never have it.
inline constexpr Token kWakeToken = 0;

class Poller {
 public:
  Poller(Fd epoll, DriverTally& tally) : epoll_(std::move(epoll)), tally_(tally) {}

  Token NewToken() { return ++last_token_; }
  /// \param events  EPOLLIN and the like; 0: hang-ups and errors only
  void Watch(int fd, Token token, std::uint32_t events) { Call(EPOLL_CTL_ADD, fd, token, events); }
  void UpdateEvents(int fd, Token token, std::uint32_t events) {
    Call(EPOLL_CTL_MOD, fd, token, events);
  }
  /// Stops watching a descriptor. Unnecessary when its last copy closes.
  void Forget(int fd);

  /// Waits until a watched descriptor has events, and writes them into `events`. Returns their
  /// number, or -1.
  /// \param wait  maximum, rounded up to whole milliseconds
  /// \param spin  the part of `wait` during which it polls before it sleeps
  int Await(std::span<epoll_event> events, Instant wait, Instant spin);

 private:
  void Call(int operation, int fd, Token token, std::uint32_t events);
  int Look(std::span<epoll_event> events, std::int64_t wait_ms);

  Fd epoll_;
  DriverTally& tally_;
  Token last_token_ = kWakeToken;
};

}  // namespace ringlet::os
