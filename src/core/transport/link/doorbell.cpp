#include "transport/link/doorbell.hpp"

#include <linux/futex.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace ringlet::transport {
namespace {

constexpr std::uint32_t kStateMask = 3;
constexpr std::uint32_t kLooking = 1;

// FUTEX_PRIVATE_FLAG is absent, because several processes may map the word.
long Futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return ::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

void Raise(int event_fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_fd, &one, sizeof one);
}

}  // namespace

void Alarm::Notify() const {
  const int event_fd = event_fd_.load(std::memory_order_acquire);
  if (event_fd >= 0) return Raise(event_fd);
  const int epoll = epoll_.load(std::memory_order_acquire);
  if (epoll < 0) return;
  const int ready = ready_.load(std::memory_order_relaxed);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  ::epoll_ctl(epoll, EPOLL_CTL_MOD, ready, &event);
}

void DoorbellButton::RingSleeper(std::uint32_t seen) const {
  // The loop covers an owner that falls asleep between the load and the exchange. The ringer that
  // sets the word to "awake" wakes the owner, so only one of several ringers calls the kernel.
  while (!word_->value.compare_exchange_weak(seen, seen & ~kStateMask, std::memory_order_seq_cst))
    if ((seen & kStateMask) == 0) return;
  switch (static_cast<Doorbell::Sleep>(seen & kStateMask)) {
    case Doorbell::Sleep::kFutex: Futex(word_->value, FUTEX_WAKE, INT_MAX, nullptr); return;
    case Doorbell::Sleep::kPoll: {
      if (alarm_) return alarm_->Notify();
      return Raise(event_fd_);
    }
  }
}

Doorbell::Ticket Doorbell::Arm() {
  ++armed_;
  const Ticket ticket = armed_ << 2 | kLooking;
  word_->value.store(ticket, std::memory_order_seq_cst);
  return ticket;
}

void Doorbell::ArmInPoll() {
  ++armed_;
  word_->value.store(armed_ << 2 | static_cast<std::uint32_t>(Sleep::kPoll),
                     std::memory_order_seq_cst);
}

bool Doorbell::PublishSleep(Ticket ticket, Sleep how) {
  const std::uint32_t asleep = (ticket & ~kStateMask) | static_cast<std::uint32_t>(how);
  return word_->value.compare_exchange_strong(ticket, asleep, std::memory_order_seq_cst);
}

void Doorbell::SleepInFutex(Ticket ticket, std::chrono::nanoseconds timeout) const {
  if (timeout.count() <= 0) return;
  constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
  timespec wait{};
  wait.tv_sec = static_cast<std::time_t>(timeout.count() / kNanosecondsPerSecond);
  wait.tv_nsec = static_cast<long>(timeout.count() % kNanosecondsPerSecond);
  const std::uint32_t asleep = (ticket & ~kStateMask) | static_cast<std::uint32_t>(Sleep::kFutex);
  Futex(word_->value, FUTEX_WAIT, asleep, &wait);
}

}  // namespace ringlet::transport
