#include "collective/call/wait_policy.hpp"

#include <algorithm>
#include <thread>

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
  constexpr std::uint32_t kYields = 4000;  // about a millisecond
  return {.looks = kLooks, .yields = kYields};
}

WaitPolicy WaitPolicy::Sharing() {
  constexpr std::uint32_t kYields = 100;
  return {.looks = 0, .yields = kYields};
}

WaitPolicy WaitPolicy::ForOtherHosts() const {
  constexpr std::uint32_t kYields = 400;  // about 100 us: a message there and back in a rack
  return {.looks = 0, .yields = yields == 0 ? 0 : kYields, .clock = clock};
}

void YieldMeter::RecordYield(Instant begin, Instant end) {
  const Instant took = end - begin;
  credit_ = std::min(credit_ + kWorth - took, kCreditMax);
  if (credit_ == kCreditMax) factor_ = kFirstFactor;
  if (credit_ >= Instant(0)) return;
  credit_ = Instant(0);
  resume_ = end + took * factor_;
  factor_ = std::min(factor_ * 2, kLastFactor);
}

bool Spinner::SpinOnce(std::uint32_t idle) {
  if (idle < wait_policy_.looks) {
    Pause();
    return true;
  }
  if (idle - wait_policy_.looks >= wait_policy_.yields) return false;
  if (wait_policy_.clock) return TimedYield();
  std::this_thread::yield();
  return true;
}

// If yields have not cost time so far, few of them are timed: reading the clock twice takes 40 ns.
bool Spinner::TimedYield() {
  constexpr std::uint32_t kTimedOneOf = 8;
  if (meter_.full() && ++untimed_ % kTimedOneOf != 0) {
    std::this_thread::yield();
    return true;
  }
  const Instant begin = wait_policy_.clock();
  if (!meter_.Pays(begin)) return false;
  std::this_thread::yield();
  meter_.RecordYield(begin, wait_policy_.clock());
  return true;
}

}  // namespace ringlet::collective
