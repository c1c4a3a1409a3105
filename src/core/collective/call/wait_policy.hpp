// How a rank waits for another of the same host before it sleeps.
#pragma once
#include <cstdint>

#include "base/wire/machine.hpp"

namespace ringlet::collective {

/// A look costs some tens of nanoseconds; a yield about a microsecond when another rank takes the
/// core, less when none wants it; a sleep and its end together from 2 us (same core) to 20 us
/// (another core).
struct WaitPolicy {
  std::uint32_t looks = 0;
  std::uint32_t yields = 0;
  /// Times the yields; null: they are not timed.
  Instant (*clock)() = nullptr;

  /// Of ranks that have a core each: they look.
  static WaitPolicy WithCores();
  /// Of ranks that share cores: they give the core to the rank that is awaited.
  static WaitPolicy Sharing();
  /// The same rank while it waits for what another host sends: it only yields, so that the rank
  /// that talks to the network has the core, and the core does not fall asleep meanwhile.
  WaitPolicy ForOtherHosts() const;
};

/// Says whether to yield or to sleep, from how long yields took. A yield returns within
/// microseconds while all who share the core are ranks that wait. Beside a program that computes it
/// returns when the scheduler takes the core from that program, after milliseconds, although the
/// news may have come long before; a sleeping rank is woken by the news itself.
///
/// A yield that spares a sleep is worth `kWorth`. While yields take less than that on average, they
/// pay: what they spare is saved up to `kCreditMax`, and a long one is paid from it. When nothing
/// is left the rank sleeps for 4 times as long as the last yield took and then tries again; each
/// time that this fails at once, for twice as long, up to 128 times: under 1 % of the time.
class YieldMeter {
 public:
  static constexpr Instant kWorth = std::chrono::microseconds(10);
  static constexpr Instant kCreditMax = std::chrono::milliseconds(10);
  static constexpr std::uint32_t kFirstFactor = 4, kLastFactor = 128;

  bool Pays(Instant now) const { return now >= resume_; }
  /// Nothing was lost by yielding, for as long as it remembers.
  bool full() const { return credit_ == kCreditMax; }
  void Took(Instant begin, Instant end);

 private:
  Instant resume_{0};
  Instant credit_ = kCreditMax;
  std::uint32_t factor_ = kFirstFactor;
};

/// Passes moments on the calling thread. One thread at a time.
class Spinner {
 public:
  explicit Spinner(WaitPolicy wait_policy = {}) : wait_policy_(wait_policy) {}

  const WaitPolicy& wait_policy() const { return wait_policy_; }

  /// Passes a moment, the `idle`-th without news. False: time to sleep.
  bool SpinOnce(std::uint32_t idle);

 private:
  bool TimedYield();

  WaitPolicy wait_policy_;
  YieldMeter meter_;
  std::uint32_t untimed_ = 0;  // yields, and one of some that was timed
};

}  // namespace ringlet::collective
