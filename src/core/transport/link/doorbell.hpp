// Doorbell: a 32-bit word that wakes a rank. Other processes can map it.
//
// The owner and the ringers share the word. Its low two bits hold the owner's state. The upper
// thirty bits count how often the owner armed the doorbell, so that an old ticket never matches a
// new one:
//
//             Arm                    Sleep                      Sleep on sockets as well
//    awake ---------> looking ----------------> in futex   or ----------> in poll
//      ^                 |                         |                         |
//      '-----------------'----------- Ring --------'-------------------------'
//
// A rank that makes news first stores it, then calls Ring. Ring loads the word and returns if the
// owner is awake. So the common case costs one load of an unmodified cache line and no system call.
//
// Proof that no wake-up is lost. Four operations are sequentially consistent: the ringer stores the
// news (N) and then loads the word (W); the owner stores "looking" (A) and then loads the news (L).
// All four have a single order. If A precedes W, the ringer sees "looking" or a later state and
// changes the word. The owner notices the change before it sleeps or in its sleep (futex compares
// the word, poll has an eventfd). If W precedes A, then N precedes W, A and L, and the owner sees
// the news. News must therefore be published by a seq_cst store and read by a seq_cst load, as Pipe
// does. (Another reason to prefer stores to fences: ThreadSanitizer does not understand fences.)
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace ringlet::transport {

/// The shared part. All zeros mean "awake".
struct alignas(64) DoorbellWord {
  std::atomic<std::uint32_t> value{0};
};
static_assert(sizeof(DoorbellWord) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

/// Wakes a rank that sleeps in poll. The owner adds a descriptor before it first sleeps in poll.
/// Until then the alarm is empty.
class Alarm {
 public:
  /// \param event_fd  non-blocking eventfd
  void UseEvent(int event_fd) { event_fd_.store(event_fd, std::memory_order_release); }
  /// \param epoll  watches `ready`, edge-triggered and with user data 0
  /// \param ready  a descriptor that is always readable; modifying its watch creates an event
  void UseEpoll(int epoll, int ready) {
    ready_.store(ready, std::memory_order_relaxed);
    epoll_.store(epoll, std::memory_order_release);
  }
  void Notify() const;

 private:
  std::atomic<int> event_fd_{-1}, epoll_{-1}, ready_{-1};
};

/// The ringer's side. Callable from any thread of any process that maps the word. Copies are cheap.
class DoorbellButton {
 public:
  /// \param word      outlives the button
  /// \param event_fd  the owner's eventfd, non-blocking; outlives the button
  DoorbellButton(DoorbellWord& word, int event_fd) : word_(&word), event_fd_(event_fd) {}
  /// \param alarm  the owner's, in this process; outlives the button
  DoorbellButton(DoorbellWord& word, const Alarm& alarm) : word_(&word), alarm_(&alarm) {}

  /// Returns true if the owner polls or sleeps.
  bool WouldWake() const { return (word_->value.load(std::memory_order_seq_cst) & 3u) != 0; }

  /// Wakes the owner if it polls or sleeps. \pre  The news is visible.
  void Ring() const {
    const std::uint32_t seen = word_->value.load(std::memory_order_seq_cst);
    if ((seen & 3u) != 0) RingSleeper(seen);
  }

 private:
  void RingSleeper(std::uint32_t seen) const;

  DoorbellWord* word_;
  const Alarm* alarm_ = nullptr;
  int event_fd_ = -1;  // used if `alarm_` is null
};

/// The owner's side. Only one thread may use it at a time.
class Doorbell {
 public:
  using Ticket = std::uint32_t;
  enum class Sleep : std::uint32_t { kFutex = 2, kPoll = 3 };

  /// \param word  outlives the doorbell
  explicit Doorbell(DoorbellWord& word) : word_(&word) {}

  /// Makes every later Ring change the word. The owner must check for news again before it sleeps.
  Ticket Arm();
  /// Arms the doorbell and marks the owner as asleep in poll. Every later Ring raises the eventfd.
  void ArmInPoll();
  /// Returns true if a peer has rung since Arm returned `ticket`.
  bool Rung(Ticket ticket) const {
    const std::uint32_t now = word_->value.load(std::memory_order_seq_cst);
    return now >> 2 != ticket >> 2 || (now & 3u) == 0;
  }
  /// Publishes how the owner sleeps, for Ring to pick the alarm. Returns false if a peer has rung.
  bool PublishSleep(Ticket ticket, Sleep how);
  /// Sleeps until a ring, `timeout` or a signal. \pre  PublishSleep(kFutex) returned true.
  void SleepInFutex(Ticket ticket, std::chrono::nanoseconds timeout) const;
  /// Marks the owner as awake, which makes Ring cheap again.
  void Disarm() { word_->value.store(0, std::memory_order_relaxed); }

 private:
  DoorbellWord* word_;
  std::uint32_t armed_ = 0;  // kept here, because peers can write any value into the word
};

}  // namespace ringlet::transport
