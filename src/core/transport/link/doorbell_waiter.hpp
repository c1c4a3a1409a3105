// The Waiter of a rank: a doorbell for memory, an epoll for sockets.
//
// A rank that has only memory links sleeps in a futex. A rank that watches sockets as well sleeps
// in epoll, where its doorbell's eventfd is one descriptor among others. Everything in the epoll is
// edge-triggered and registered once: "news since" is what an edge means, so data that the rank
// does not want yet does not keep it awake; the kernel reports room to write only after a write
// that fell short; and the eventfd need never be read.
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
  /// How long to look at the doorbell before sleeping. Zero when ranks outnumber cores: the core
  /// belongs to the rank that is awaited.
  std::chrono::nanoseconds spin{0};
  /// An eventfd that is always readable, of the process: with it a rank that watches sockets needs
  /// no eventfd of its own. May be null.
  std::shared_ptr<const os::Fd> ready = {};
  /// An eventfd of the process, which is never read, for ranks of other processes to ring; each of
  /// its ranks that polls then wakes to look. Null: the rank has its own.
  std::shared_ptr<const os::Fd> rung_from_outside = {};
};

/// News that a rank has to fetch by calls, beside doorbell and sockets.
class NewsSource {
 public:
  NewsSource() = default;
  NewsSource(const NewsSource&) = delete;
  NewsSource& operator=(const NewsSource&) = delete;
  virtual ~NewsSource() = default;

  /// Becomes readable with news that come after Arm; -1: there is none, look from time to time.
  /// The same as long as the source lives.
  virtual int descriptor() const = 0;
  /// Moves what can be moved. False when something was: the rank looks before it sleeps.
  virtual bool Arm() = 0;
};

class DoorbellWaiter final : public Waiter {
 public:
  /// Takes descriptors when it has something to watch, not before.
  /// \param word  where the ringers look; outlives the waiter
  static Result<std::unique_ptr<DoorbellWaiter>> Create(DoorbellWord& word,
                                                        const DoorbellWaiterOptions& options);

  /// The doorbell that others ring. Valid while the waiter lives and, for another process, while it
  /// holds a duplicate of event_fd().
  DoorbellButton button() const { return DoorbellButton(word_, alarm_); }
  /// Makes event_fd(), once. Errors  kSystem  no descriptors left
  Status PrepareOffer();
  const os::Fd& event_fd() {
    static_cast<void>(PrepareOffer());
    return outside_ ? *outside_ : event_;
  }

  /// From now on arrivals, room and hang-ups on the socket `fd` are news, and a hang-up sets `gone`
  /// (a socket can still be written to when its peer has left). `fd` is non-blocking. Closing it
  /// ends the watch.
  Status WatchSocket(int fd, std::shared_ptr<std::atomic<bool>> gone);

  /// From now on a hang-up of `fd`, a socket over which nothing more is said, sets `gone` and is
  /// news. It is noticed within kLivenessPeriod of a sleep even where the sleep is in a futex.
  Status WatchLiveness(int fd, std::shared_ptr<std::atomic<bool>> gone);

  /// From now on news of `source` is news, as long as it lives. A rank whose source has no
  /// descriptor sleeps no longer than kLookPeriod.
  Status WatchSource(std::shared_ptr<NewsSource> source);

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
  bool Harvest(std::chrono::nanoseconds timeout);
  bool LookForTheDead();

  DoorbellWord& word_;
  Doorbell doorbell_;
  os::Fd epoll_, event_;  // where they are needed
  Alarm alarm_;           // made of these
  std::chrono::nanoseconds spin_;
  std::shared_ptr<const os::Fd> ready_, outside_;
  bool offered_ = false;  // `outside_`, to others
  bool has_sockets_ = false;
  struct Liveness {
    int fd;
    std::shared_ptr<std::atomic<bool>> gone;
  };
  std::vector<Liveness> liveness_;
  std::weak_ptr<NewsSource> source_;
  std::vector<std::shared_ptr<std::atomic<bool>>> gone_{nullptr};  // by token; [0] is the alarm's
};

/// A rank as its neighbours in the process hold it: its waiter, and the memory of the word behind
/// it. Shared, because a neighbour may ring after the rank has gone.
struct RankBell {
  std::shared_ptr<void> memory;  // first, so that it goes last
  std::unique_ptr<DoorbellWaiter> waiter;
};

}  // namespace ringlet::transport
