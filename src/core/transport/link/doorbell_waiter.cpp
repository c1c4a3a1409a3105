#include "transport/link/doorbell_waiter.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "os/clock.hpp"
#include "os/error.hpp"

namespace ringlet::transport {
namespace {

constexpr std::uint32_t kHangUp = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
constexpr int kLooksPerClock = 64;  // this many polls cost about as much as reading the clock

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

Instant After(std::chrono::nanoseconds timeout) {
  const Instant now = os::Now();
  return timeout < Instant::max() - now ? now + timeout : Instant::max();
}

}  // namespace

Result<std::unique_ptr<DoorbellWaiter>> DoorbellWaiter::Create(
    DoorbellWord& word, const DoorbellWaiterOptions& options) {
  return std::unique_ptr<DoorbellWaiter>(new DoorbellWaiter(word, options));
}

Status DoorbellWaiter::PrepareOffer() {
  if (!outside_) return PrepareEvent();
  if (offered_) return Ok();
  offered_ = true;
  return epoll_.valid() ? AddToEpoll(outside_->get(), EPOLLIN, 0) : Ok();
}

Status DoorbellWaiter::PrepareEvent() {
  if (event_.valid()) return Ok();
  os::Fd event(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!event.valid()) return os::SystemError("cannot create an eventfd for a rank", errno);
  if (epoll_.valid()) RINGLET_TRY(AddToEpoll(event.get(), EPOLLIN, 0));
  event_ = std::move(event);
  alarm_.UseEvent(event_.get());
  return Ok();
}

Status DoorbellWaiter::PrepareEpoll() {
  if (epoll_.valid()) return Ok();
  if (!ready_) RINGLET_TRY(PrepareEvent());
  os::Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return os::SystemError("cannot create an epoll for a rank", errno);
  epoll_ = std::move(epoll);
  if (ready_) {
    RINGLET_TRY(AddToEpoll(ready_->get(), EPOLLIN, 0));
    alarm_.UseEpoll(epoll_.get(), ready_->get());
  }
  if (event_.valid()) RINGLET_TRY(AddToEpoll(event_.get(), EPOLLIN, 0));
  if (offered_) RINGLET_TRY(AddToEpoll(outside_->get(), EPOLLIN, 0));
  for (const Liveness& one : liveness_) RINGLET_TRY(Watch(one.fd, EPOLLRDHUP, one.gone));
  return Ok();
}

Status DoorbellWaiter::AddToEpoll(int fd, std::uint32_t events, std::uint64_t token) {
  epoll_event event{};
  event.events = events | EPOLLET;
  event.data.u64 = token;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    return os::SystemError("cannot watch a descriptor of a rank", errno);
  return Ok();
}

Status DoorbellWaiter::Watch(int fd, std::uint32_t events,
                             std::shared_ptr<std::atomic<bool>> gone) {
  RINGLET_TRY(PrepareEpoll());
  RINGLET_TRY(AddToEpoll(fd, events, gone_.size()));
  gone_.push_back(std::move(gone));
  return Ok();
}

Status DoorbellWaiter::WatchSocket(int fd, std::shared_ptr<std::atomic<bool>> gone) {
  has_sockets_ = true;
  return Watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP, std::move(gone));
}

Status DoorbellWaiter::WatchLiveness(int fd, std::shared_ptr<std::atomic<bool>> gone) {
  liveness_.push_back({fd, gone});
  return epoll_.valid() ? Watch(fd, EPOLLRDHUP, std::move(gone)) : Ok();
}

Status DoorbellWaiter::WatchSource(std::shared_ptr<ProgressSource> source) {
  RINGLET_ASSERT(source_.expired());
  has_sockets_ = true;
  source_ = source;
  RINGLET_TRY(PrepareEpoll());
  return source->descriptor() < 0 ? Ok() : Watch(source->descriptor(), EPOLLIN, nullptr);
}

// Returns how long the rank may sleep before it polls its source. 0 if the source made progress.
std::chrono::nanoseconds DoorbellWaiter::SleepMax() {
  const std::shared_ptr<ProgressSource> source = source_.lock();
  if (!source) return std::chrono::nanoseconds::max();
  if (!source->Arm()) return std::chrono::nanoseconds(0);
  return source->descriptor() < 0 ? std::chrono::nanoseconds(kLookPeriod)
                                  : std::chrono::nanoseconds::max();
}

void DoorbellWaiter::Wait(Ticket ticket, std::chrono::nanoseconds timeout) {
  if (doorbell_.Rung(ticket)) return;
  const Instant until = After(timeout);
  if (!Spin(ticket, std::min(until, After(spin_)))) SleepUntil(ticket, until);
  doorbell_.Disarm();
}

// Returns true if there is news.
bool DoorbellWaiter::Spin(Ticket ticket, Instant until) {
  if (spin_.count() <= 0) return false;
  do {
    for (int i = 0; i < kLooksPerClock; ++i) {
      if (doorbell_.Rung(ticket)) return true;
      Pause();
    }
    if (has_sockets_ && CollectSocketEvents(std::chrono::nanoseconds(0))) return true;
  } while (os::Now() < until);
  return false;
}

void DoorbellWaiter::SleepUntil(Ticket ticket, Instant until) {
  const auto how = has_sockets_ ? Doorbell::Sleep::kPoll : Doorbell::Sleep::kFutex;
  if (!doorbell_.PublishSleep(ticket, how)) return;
  while (!doorbell_.Rung(ticket)) {
    const std::chrono::nanoseconds left = until - os::Now();
    if (left.count() <= 0) return;
    if (has_sockets_) {
      const std::chrono::nanoseconds sleep_max = SleepMax();
      if (sleep_max.count() == 0 || CollectSocketEvents(std::min(left, sleep_max))) return;
      if (sleep_max < left) return;  // time to poll the source
    } else {
      const std::chrono::nanoseconds period = kLivenessPeriod;
      doorbell_.SleepInFutex(ticket, liveness_.empty() ? left : std::min(left, period));
      if (!liveness_.empty() && !doorbell_.Rung(ticket) && CheckLiveness()) return;
    }
  }
}

// Returns true if a peer has left since the last call.
bool DoorbellWaiter::CheckLiveness() {
  if (epoll_.valid()) return CollectSocketEvents(std::chrono::nanoseconds(0));
  std::vector<pollfd> lines;
  for (const Liveness& one : liveness_) lines.push_back({one.fd, POLLRDHUP, 0});
  if (::poll(lines.data(), lines.size(), 0) <= 0) return false;
  bool news = false;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if ((lines[i].revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0)
      news = !liveness_[i].gone->exchange(true) || news;
  return news;
}

// Handles epoll events, waiting at most `timeout` for the first. Returns true if there was any.
bool DoorbellWaiter::CollectSocketEvents(std::chrono::nanoseconds timeout) {
  std::array<epoll_event, 64> events;
  const auto timeout_ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  constexpr std::int64_t kTimeoutMsMax = 1'000'000;  // epoll takes an int
  const int ready = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 static_cast<int>(std::min(timeout_ms, kTimeoutMsMax)));
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto& gone = gone_[event.data.u64];
    if (gone && (event.events & kHangUp) != 0) gone->store(true);
  }
  return ready > 0;
}

void DoorbellWaiter::PrepareDescriptor() {
  // If descriptors are exhausted, the polling thread finds the news when it next looks.
  if (!epoll_.valid())
    static_cast<void>(offered_ || !liveness_.empty() ? PrepareEpoll() : PrepareEvent());
  doorbell_.ArmInPoll();
  if (SleepMax() < std::chrono::nanoseconds::max()) button().Ring();  // no sleep: poll again
}

void DoorbellWaiter::Acknowledge() {
  std::uint64_t rung = 0;
  if (!epoll_.valid()) static_cast<void>(!::read(event_.get(), &rung, sizeof rung));
  while (epoll_.valid() && CollectSocketEvents(std::chrono::nanoseconds(0))) {
  }
  doorbell_.Disarm();
}

}  // namespace ringlet::transport
