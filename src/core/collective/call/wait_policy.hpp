// WaitPolicy: how a rank waits for another rank of its host before it sleeps.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
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
  /// The longest yield after which only other ranks have had the core: longer than most copies of a
  /// rank, and shorter than a scheduler's time slice.
  Instant turn = std::chrono::microseconds(300);

  /// Policy for ranks that each have a core: they poll.
  static WaitPolicy WithCores();
  /// Policy for ranks that share cores: they yield the core to the awaited rank.
  static WaitPolicy Sharing(std::size_t ranks_per_core = 1);
  /// Policy for the same rank while it waits for data from another host. It only yields, so that
  /// the rank that serves the network has the core, and the core does not enter a sleep state.
  WaitPolicy ForOtherHosts() const;
};

/// The time until which the ranks of a host sleep instead of yielding, for all of them in shared
/// memory. Outside input. Zero: they yield. The lowest 8 bits count failures in a row.
using YieldPause = std::atomic<std::uint64_t>;

/// Decides between yielding and sleeping by the duration of yields. If all threads on the core are
/// ranks that wait or copy data, a yield returns within WaitPolicy::turn. Beside a computing
/// program, it returns only when the scheduler takes the core from that program, after
/// milliseconds, although the news may have arrived long before. News wakes a sleeping rank at
/// once.
///
/// A yield earns `kEarning` times its duration, at most `kWorth`, because it replaces a sleep. A
/// yield that returns at once replaces none and earns nothing. Its duration beyond the turn is
/// lost. Yields pay while they earn more than they lose: the savings add up to at most
/// `kCreditMax`, and long yields use them up. When one rank has no savings left, all ranks of the
/// host sleep for 4 times the duration of its last yield. Then one rank yields again. Each
/// immediate failure doubles that time, up to 128 times the yield: under 1 % of the time.
class YieldMeter {
 public:
  static constexpr Instant kWorth = std::chrono::microseconds(10);
  /// A yield of 2 us to a waiting rank is worth nearly a sleep.
  static constexpr std::int64_t kEarning = 4;
  /// A yield below this found no other thread that could run. (0.3 us on an EPYC.)
  static constexpr Instant kAtOnce = std::chrono::microseconds(1);
  static constexpr Instant kCreditMax = std::chrono::milliseconds(10);
  static constexpr std::int64_t kFirstFactor = 4, kLastFactor = 128;
  static constexpr Instant kPauseMax = std::chrono::seconds(1);
  /// Duration for which the others wait for the result of the rank that yields again.
  static constexpr Instant kProbe = std::chrono::milliseconds(10);

  explicit YieldMeter(Instant turn = WaitPolicy{}.turn) : turn_(turn) {}
  /// Shares the pause with other ranks. \param pause  outlives this
  void Share(YieldPause& pause) { shared_ = &pause; }

  /// Returns true if the caller should yield, and then call RecordYield.
  bool TryYield(Instant now);
  void RecordYield(Instant begin, Instant end);

 private:
  YieldPause& pause() { return shared_ ? *shared_ : own_; }

  Instant turn_;
  YieldPause own_{0};
  YieldPause* shared_ = nullptr;
  Instant credit_{0};
  bool probes_ = false;  // this rank yields for all during a pause
};

/// Lets time pass on the calling thread. Only one thread may use it at a time.
class Spinner {
 public:
  explicit Spinner(WaitPolicy wait_policy = {})
      : wait_policy_(wait_policy), meter_(wait_policy.turn) {}

  const WaitPolicy& wait_policy() const { return wait_policy_; }
  /// Yields only while `pause` permits it, which other ranks share. \param pause  outlives this
  void Share(YieldPause& pause) { meter_.Share(pause); }

  /// Spins or yields once. `idle` counts earlier calls without news. False if it is time to sleep.
  bool SpinOnce(std::uint32_t idle);

 private:
  /// Maximum time of the yields of one wait, in turns. It bounds the processor time of a rank that
  /// is alone with threads of short turns.
  static constexpr int kTurnsMax = 8;

  WaitPolicy wait_policy_;
  YieldMeter meter_;
  Instant yields_until_{0};
};

}  // namespace ringlet::collective
