#include "os/driver/poller.hpp"

#include <sched.h>

#include <algorithm>

#include "os/clock.hpp"

namespace ringlet::os {

void Poller::Call(int operation, int fd, Token token, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = token;
  ::epoll_ctl(epoll_.get(), operation, fd, &event);
  ++tally_.counters.system_calls;
}

void Poller::Forget(int fd) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
  ++tally_.counters.system_calls;
}

int Poller::Look(std::span<epoll_event> events, std::int64_t wait_ms) {
  ++tally_.counters.system_calls;
  return ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                      static_cast<int>(std::min<std::int64_t>(wait_ms, 1'000'000)));
}

int Poller::Await(std::span<epoll_event> events, Instant wait, Instant spin) {
  if (spin > Instant(0)) {
    spin = std::min(spin, wait);
    for (const Instant until = Now() + spin; Now() < until; ::sched_yield())
      if (const int ready = Look(events, 0); ready != 0) return ready;
    wait -= spin;
  }
  return Look(events, std::chrono::ceil<std::chrono::milliseconds>(wait).count());
}

}  // namespace ringlet::os
