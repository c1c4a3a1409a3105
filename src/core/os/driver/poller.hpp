// The epoll of a driver: which descriptors it watches, and its wait for the first of them.
#pragma once
#include <sys/epoll.h>

#include <cstdint>
#include <span>

#include "base/wire/machine.hpp"
#include "os/driver/driver_counters.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {

/// The data that epoll gives back. A token names one descriptor for its whole life, and no other
/// descriptor gets it afterwards.
using Token = std::uint64_t;

/// The token of the descriptor that wakes the driver; of no line and of no listener.
inline constexpr Token kWakeToken = 0;

class Poller {
 public:
  Poller(Fd epoll, DriverTally& tally) : epoll_(std::move(epoll)), tally_(tally) {}

  Token NewToken() { return ++last_token_; }
  /// \param events  EPOLLIN and the like; 0: hang-ups and errors only
  void Watch(int fd, Token token, std::uint32_t events) { Call(EPOLL_CTL_ADD, fd, token, events); }
  void Rewatch(int fd, Token token, std::uint32_t events) {
    Call(EPOLL_CTL_MOD, fd, token, events);
  }
  /// A descriptor whose last copy closes need not be given here.
  void Forget(int fd);

  /// Waits until a watched descriptor has something, and writes what into `events`. Gives how many
  /// it wrote, or -1.
  /// \param wait  at most; rounded up to whole milliseconds
  /// \param spin  how much of `wait` it looks again and again before it sleeps
  int Await(std::span<epoll_event> events, Instant wait, Instant spin);

 private:
  void Call(int operation, int fd, Token token, std::uint32_t events);
  int Look(std::span<epoll_event> events, std::int64_t wait_ms);

  Fd epoll_;
  DriverTally& tally_;
  Token last_token_ = kWakeToken;
};

}  // namespace ringlet::os
