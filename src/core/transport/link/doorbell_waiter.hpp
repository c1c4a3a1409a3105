// DoorbellWaiter: the Waiter of a rank, with a doorbell for memory links and an epoll for sockets.
//
// A rank that has only memory links sleeps in a futex. A rank that also watches sockets sleeps in
// epoll, and its doorbell's eventfd is one of the descriptors there. Every descriptor in the epoll
// is edge-triggered and registered once, because an edge means "news since". As a consequence, data
// that the rank does not want yet does not keep it awake, the kernel reports room to write only
// after a short write, and the eventfd never needs to be read.
#pragma once
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/wire/machine.hpp"
#include "os/fs/fd.hpp"
#include "transport/link/doorbell.hpp"
#include "transport/link/link.hpp"

namespace ringlet::transport {

struct DoorbellWaiterOptions {
  /// Time to poll the doorbell before sleeping. Zero if ranks outnumber cores, because the core
  /// then belongs to the awaited rank.
  std::chrono::nanoseconds spin{0};
  /// An always-readable eventfd of the process. With it a rank that watches sockets does not need
  /// its own eventfd. May be null.
  std::shared_ptr<const os::Fd> ready = {};
  /// An eventfd of the process that ranks of other processes ring and that is never read. A ring
  /// wakes every rank of this process that sleeps in poll. Null if each rank has its own eventfd.
  std::shared_ptr<const os::Fd> rung_from_outside = {};
};

/// A source of news that a rank must call to make progress, in addition to doorbell and sockets.
class ProgressSource {
 public:
  ProgressSource() = default;
  ProgressSource(const ProgressSource&) = delete;
  ProgressSource& operator=(const ProgressSource&) = delete;
  virtual ~ProgressSource() = default;

  /// Returns a descriptor that becomes readable if news arrives after Arm, or -1 if the source must
  /// be polled. The value never changes.
  virtual int descriptor() const = 0;
  /// Makes all possible progress. Returns false if it made any, so that the rank polls again.
  virtual bool Arm() = 0;
};

class DoorbellWaiter final : public Waiter {
 public:
  /// Opens descriptors only when the rank first needs them.
  /// \param word  the word that ringers load; outlives the waiter
  static Result<std::unique_ptr<DoorbellWaiter>> Create(DoorbellWord& word,
                                                        const DoorbellWaiterOptions& options);

  /// Returns the doorbell for other ranks to ring. Valid while the waiter lives, and in another
  /// process while that holds a duplicate of event_fd().
  DoorbellButton button() const { return DoorbellButton(word_, alarm_); }
  /// Creates event_fd() on the first call. Errors  kSystem  descriptors are exhausted
  Status PrepareOffer();
  const os::Fd& event_fd() {
    static_cast<void>(PrepareOffer());
    return outside_ ? *outside_ : event_;
  }

  /// Makes arrivals, room and hang-ups on the non-blocking socket `fd` count as news. A hang-up
  /// also sets `gone`, because a socket stays writable after its peer has left. Closing `fd` ends
  /// the watch.
  Status WatchSocket(int fd, std::shared_ptr<std::atomic<bool>> gone);

  /// Makes a hang-up of `fd`, a connection that stays silent, set `gone` and count as news. A rank
  /// that sleeps in a futex notices it within kLivenessPeriod.
  Status WatchLiveness(int fd, std::shared_ptr<std::atomic<bool>> gone);

  /// Makes news of `source` count as news while `source` lives. If `source` lacks a descriptor, the
  /// rank sleeps at most kLookPeriod at a time.
  Status WatchSource(std::shared_ptr<ProgressSource> source);

  static constexpr std::chrono::milliseconds kLivenessPeriod{100};
  static constexpr std::chrono::milliseconds kLookPeriod{1};

  Ticket Prepare() override { return doorbell_.Arm(); }
  void Wait(Ticket ticket, std::chrono::nanoseconds timeout) override;
  void Wake() override { button().Ring(); }
  bool in_memory() const override { return !has_sockets_; }
  int descriptor() const override { return epoll_.valid() ? epoll_.get() : event_.get(); }
  void PrepareDescriptor() override;
  void Acknowledge() override;

 private:
  DoorbellWaiter(DoorbellWord& word, const DoorbellWaiterOptions& options)
      : word_(word),
        doorbell_(word),
        spin_(options.spin),
        ready_(options.ready),
        outside_(options.rung_from_outside) {}
  Status PrepareEvent();
  Status PrepareEpoll();
  Status AddToEpoll(int fd, std::uint32_t events, std::uint64_t token);
  Status Watch(int fd, std::uint32_t events, std::shared_ptr<std::atomic<bool>> gone);
  bool Spin(Ticket ticket, Instant until);
  std::chrono::nanoseconds SleepMax();
  void SleepUntil(Ticket ticket, Instant until);
  bool CollectSocketEvents(std::chrono::nanoseconds timeout);
  bool CheckLiveness();

  DoorbellWord& word_;
  Doorbell doorbell_;
  os::Fd epoll_, event_;  // opened on demand
  Alarm alarm_;           // uses the descriptors above
  std::chrono::nanoseconds spin_;
  std::shared_ptr<const os::Fd> ready_, outside_;
  bool offered_ = false;  // `outside_` was passed to other processes
  bool has_sockets_ = false;
  struct Liveness {
    int fd;
    std::shared_ptr<std::atomic<bool>> gone;
  };
  std::vector<Liveness> liveness_;
  std::weak_ptr<ProgressSource> source_;
  std::vector<std::shared_ptr<std::atomic<bool>>> gone_{nullptr};  // by token; [0]: the alarm
};

/// The waiter of a rank and the memory of its doorbell word, as other ranks of the process hold
/// them. Shared, because another rank may ring after this rank has left.
struct RankBell {
  std::shared_ptr<void> memory;  // first, so that it is destroyed last
  std::unique_ptr<DoorbellWaiter> waiter;
};

}  // namespace ringlet::transport
