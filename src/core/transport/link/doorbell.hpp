// The word that wakes a rank, laid out so that other processes can reach it.
//
// A sleeper and a ringer share one 32-bit word. Its low two bits say what the owner does, the upper
// thirty count how often it has lain down, so that an old ticket is never taken for a new one:
//
//            Arm                    Sleep                      Sleep on sockets as well
//   awake ---------> looking ----------------> in futex   or ----------> in poll
//     ^                 |                         |                         |
//     '-----------------'----------- Ring --------'-------------------------'
//
// A rank that makes news first stores it, then calls Ring; Ring reads the word and does no more
// when the owner is awake. So the common case costs a load of a line that is not written, and no
// call.
//
// Why no wake-up is lost. Four operations are sequentially consistent: the ringer stores the news
// (N) and then loads the word (W); the owner stores "looking" (A) and then looks at the news (L).
// In the single order of all four, either A comes before W, and the ringer sees "looking" or later
// and changes the word, which the owner notices before or in its sleep (futex compares the word,
// poll has an eventfd); or W comes before A, then N before W before A before L, and the owner sees
// the news. News must therefore be published by a seq_cst store and looked at by a seq_cst load;
// Pipe does. (Stores instead of fences also because ThreadSanitizer does not understand fences.)
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace ringlet::transport {

/// The shared part; all zero is "awake".
struct alignas(64) DoorbellWord {
  std::atomic<std::uint32_t> value{0};
};
static_assert(sizeof(DoorbellWord) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

/// How a rank that sleeps in poll is woken: by what it has made so far, which is nothing while it
/// never sleeps so. The owner adds to it before it lies down.
class Alarm {
 public:
  /// \param event_fd  an eventfd, non-blocking
  void UseEvent(int event_fd) { event_fd_.store(event_fd, std::memory_order_release); }
  /// \param epoll  watches `ready`, edge-triggered and with user data 0
  /// \param ready  a descriptor that is always readable: to watch it anew is an event
  void UseEpoll(int epoll, int ready) {
    ready_.store(ready, std::memory_order_relaxed);
    epoll_.store(epoll, std::memory_order_release);
  }
  void Sound() const;

 private:
  std::atomic<int> event_fd_{-1}, epoll_{-1}, ready_{-1};
};

/// The ringer's side. Any thread of any process that maps the word; copies are cheap.
class DoorbellButton {
 public:
  /// \param word      outlives the button
  /// \param event_fd  the owner's eventfd, non-blocking; outlives the button
  DoorbellButton(DoorbellWord& word, int event_fd) : word_(&word), event_fd_(event_fd) {}
  /// \param alarm  the owner's, in this process; outlives the button
  DoorbellButton(DoorbellWord& word, const Alarm& alarm) : word_(&word), alarm_(&alarm) {}

  /// Whether the owner looks or sleeps.
  bool WouldWake() const { return (word_->value.load(std::memory_order_seq_cst) & 3u) != 0; }

  /// Wakes the owner if it looks or sleeps. Call after the news is visible.
  void Ring() const {
    const std::uint32_t seen = word_->value.load(std::memory_order_seq_cst);
    if ((seen & 3u) != 0) RingSleeper(seen);
  }

 private:
  void RingSleeper(std::uint32_t seen) const;

  DoorbellWord* word_;
  const Alarm* alarm_ = nullptr;
  int event_fd_ = -1;  // where there is no alarm
};

/// The owner's side. One thread at a time.
class Doorbell {
 public:
  using Ticket = std::uint32_t;
  enum class Sleep : std::uint32_t { kFutex = 2, kPoll = 3 };

  /// \param word  outlives the doorbell
  explicit Doorbell(DoorbellWord& word) : word_(&word) {}

  /// From here on Ring leaves a trace. Look at everything once more before sleeping.
  Ticket Arm();
  /// As Arm, and lies down at once: from here on Ring writes to the eventfd.
  void ArmInPoll();
  /// True when a peer has rung since Arm gave `ticket`.
  bool Rung(Ticket ticket) const {
    const std::uint32_t now = word_->value.load(std::memory_order_seq_cst);
    return now >> 2 != ticket >> 2 || (now & 3u) == 0;
  }
  /// Says how the owner is going to sleep, so that Ring picks the right alarm. False: rung already.
  bool LieDown(Ticket ticket, Sleep how);
  /// After LieDown(kFutex): sleeps until rung, `timeout` or a signal.
  void SleepInFutex(Ticket ticket, std::chrono::nanoseconds timeout) const;
  /// The owner is awake; Ring costs its callers nothing again.
  void Disarm() { word_->value.store(0, std::memory_order_relaxed); }

 private:
  DoorbellWord* word_;
  std::uint32_t armed_ = 0;  // counted here: what peers may write into the word is not trusted
};

}  // namespace ringlet::transport
