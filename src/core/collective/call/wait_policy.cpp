#include "collective/call/wait_policy.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace ringlet::collective {
namespace {

void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

WaitPolicy WaitPolicy::WithCores() {
  // Even with a core per rank, two ranks may be on the same core. After about 5 us of polling it is
  // worth yielding. A rank that soon sleeps instead wakes up on that core again and stays there (70
  // us for an operation of 0.1 us), because the kernel moves only runnable tasks, each millisecond.
  constexpr std::uint32_t kLooks = 200;
  constexpr std::uint32_t kYields = 4000;  // one or two milliseconds
  return {.looks = kLooks, .yields = kYields};
}

WaitPolicy WaitPolicy::Sharing(std::size_t ranks_per_core) {
  // A process that finds nothing to do takes some 40 us of its core, if there are many.
  constexpr Instant kTurnPerRank = std::chrono::microseconds(80);
  constexpr std::size_t kRanksMax = 1000;

  // About half a millisecond if the core has nothing else to do: a rank on another core may copy
  // data for that long, and to wake a core takes up to 50 us.
  constexpr std::uint32_t kYields = 1000;
  const auto ranks = static_cast<std::int64_t>(std::min(ranks_per_core, kRanksMax));
  return {.looks = 0, .yields = kYields, .turn = std::max(WaitPolicy{}.turn, kTurnPerRank * ranks)};
}

WaitPolicy WaitPolicy::ForOtherHosts() const {
  constexpr std::uint32_t kYields = 400;  // about 100 us: a message there and back in a rack
  return {.looks = 0, .yields = yields == 0 ? 0 : kYields, .clock = clock, .turn = turn};
}

namespace {

// A YieldPause holds microseconds above the number of failures.
constexpr unsigned kFailureBits = 8;

std::uint64_t PauseUntil(Instant until, std::uint64_t failures) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(until).count();
  return static_cast<std::uint64_t>(us) << kFailureBits | failures;
}
std::uint64_t FailuresIn(std::uint64_t pause) {
  return pause & ((1u << kFailureBits) - 1);
}
bool IsPause(std::uint64_t pause) {
  return pause >> kFailureBits != 0;
}

}  // namespace

bool YieldMeter::TryYield(Instant now) {
  std::uint64_t seen = pause().load(std::memory_order_relaxed);
  if (!IsPause(seen)) [[likely]]
    return true;
  credit_ = Instant(0);
  using std::chrono::microseconds;
  // Compares microseconds, because a wrong value in nanoseconds could overflow.
  constexpr auto kLongest = std::chrono::duration_cast<microseconds>(kPauseMax);
  const auto left =
      microseconds(seen >> kFailureBits) - std::chrono::duration_cast<microseconds>(now);
  if (left > microseconds(0) && left <= kLongest) return false;
  const std::uint64_t claimed = PauseUntil(now + kProbe, FailuresIn(seen));
  probes_ = pause().compare_exchange_strong(seen, claimed, std::memory_order_relaxed);
  return probes_;
}

void YieldMeter::RecordYield(Instant begin, Instant end) {
  const Instant took = end - begin;
  const Instant earned = took < kAtOnce ? Instant(0) : std::min(took * kEarning, kWorth);
  const Instant lost = std::max(took - turn_, Instant(0));
  credit_ = std::min(credit_ + earned - lost, kCreditMax);
  const bool fails = credit_ < Instant(0);
  if (fails) credit_ = Instant(0);
  const std::uint64_t before = pause().load(std::memory_order_relaxed);
  if (!std::exchange(probes_, false) && IsPause(before)) return;  // another rank has begun it
  std::uint64_t failures = credit_ == kCreditMax ? 0 : FailuresIn(before);
  std::uint64_t after = failures;
  if (fails) {
    std::int64_t factor = kFirstFactor;
    for (std::uint64_t i = 0; i < failures && factor < kLastFactor; ++i) factor *= 2;
    if (factor < kLastFactor) ++failures;
    after = PauseUntil(end + std::min(took * factor, kPauseMax), failures);
  }
  if (after != before) pause().store(after, std::memory_order_relaxed);
}

bool Spinner::SpinOnce(std::uint32_t idle) {
  if (idle < wait_policy_.looks) {
    Pause();
    return true;
  }
  const std::uint32_t yields = idle - wait_policy_.looks;
  if (yields >= wait_policy_.yields) return false;
  if (!wait_policy_.clock) {
    std::this_thread::yield();
    return true;
  }
  const Instant begin = wait_policy_.clock();
  if (yields == 0) yields_until_ = begin + kTurnsMax * wait_policy_.turn;
  if (begin >= yields_until_ || !meter_.TryYield(begin)) return false;
  std::this_thread::yield();
  meter_.RecordYield(begin, wait_policy_.clock());
  return true;
}

}  // namespace ringlet::collective
