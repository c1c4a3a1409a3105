// WaitPolicy: how a rank waits for another rank of its host before it sleeps.
#pragma once
#include <cstdint>

#include "base/wire/machine.hpp"

namespace ringlet::collective {

/// Polling once costs tens of nanoseconds. A yield costs about a microsecond if another rank takes
/// the core, and less otherwise. A sleep with its wake-up costs from 2 us (same core) to 20 us
/// (another core).
struct WaitPolicy {
  std::uint32_t looks = 0;
  std::uint32_t yields = 0;
  /// Times the yields. Null: they are not timed.
  Instant (*clock)() = nullptr;

  /// Policy for ranks that each have a core: they poll.
  static WaitPolicy WithCores();
  /// Policy for ranks that share cores: they yield the core to the awaited rank.
  static WaitPolicy Sharing();
  /// Policy for the same rank while it waits for data from another host. It only yields, so that
  /// the rank that serves the network has the core, and the core does not enter a sleep state.
  WaitPolicy ForOtherHosts() const;
};

/// Decides between yielding and sleeping by the duration of yields. If all threads on the core are
/// waiting ranks, a yield returns within microseconds. Beside a computing program, it returns only
/// when the scheduler takes the core from that program, after milliseconds, although the news may
/// have arrived long before. News wakes a sleeping rank at once.
///
/// A yield that replaces a sleep is worth `kWorth`. Yields pay while they take less than that on
/// average: the savings add up to at most `kCreditMax`, and long yields use them up. At zero, the
/// rank sleeps for 4 times the duration of the last yield and then tries again. Each immediate
/// failure doubles that time, up to 128 times the yield: under 1 % of the time.
class YieldMeter {
 public:
  static constexpr Instant kWorth = std::chrono::microseconds(10);
  static constexpr Instant kCreditMax = std::chrono::milliseconds(10);
  static constexpr std::uint32_t kFirstFactor = 4, kLastFactor = 128;

  bool Pays(Instant now) const { return now >= resume_; }
  /// Returns true if yielding has not cost time, as far as the meter remembers.
  bool full() const { return credit_ == kCreditMax; }
  void RecordYield(Instant begin, Instant end);

 private:
  Instant resume_{0};
  Instant credit_ = kCreditMax;
  std::uint32_t factor_ = kFirstFactor;
};

/// Lets time pass on the calling thread. Only one thread may use it at a time.
class Spinner {
 public:
  explicit Spinner(WaitPolicy wait_policy = {}) : wait_policy_(wait_policy) {}

  const WaitPolicy& wait_policy() const { return wait_policy_; }

  /// Spins or yields once. `idle` counts earlier calls without news. False if it is time to sleep.
  bool SpinOnce(std::uint32_t idle);

 private:
  bool TimedYield();

  WaitPolicy wait_policy_;
  YieldMeter meter_;
  std::uint32_t untimed_ = 0;  // yields since one was timed
};

}  // namespace ringlet::collective
