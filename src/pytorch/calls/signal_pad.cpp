#include "pytorch/calls/signal_pad.hpp"

#include <fmt/format.h>

#include <atomic>
#include <thread>

#include "comm/service/clock.hpp"
#include "pytorch/store/formation.hpp"

namespace ringlet::torch_api {
namespace {

// Polls first, because the other rank may respond at once; then yields, for ranks on this core.
constexpr int kLooks = 200, kYields = 200;
// Sleeps are short, because the other rank does not end them.
constexpr std::chrono::microseconds kFirstSleep{20}, kLongestSleep{500};
constexpr std::chrono::microseconds kBetweenQuestions = std::chrono::milliseconds(50);

bool Change(std::uint32_t& word, std::uint32_t from, std::uint32_t to) {
  return std::atomic_ref(word).compare_exchange_strong(from, to, std::memory_order_acq_rel,
                                                       std::memory_order_relaxed);
}

Status ChangeInTime(std::uint32_t& word, std::uint32_t from, std::uint32_t to,
                    const SignalWaiting& waiting) {
  for (int look = 0; look < kLooks; ++look)
    if (Change(word, from, to)) return Ok();
  for (int yields = 0; yields < kYields; ++yields) {
    if (Change(word, from, to)) return Ok();
    std::this_thread::yield();
  }
  const Instant begin = comm::Now();
  Instant asked = begin;
  std::chrono::microseconds sleep = kFirstSleep;
  while (!Change(word, from, to)) {
    const Instant now = comm::Now();
    if (now - begin >= waiting.timeout)
      return Error{Code::kTimeout,
                   fmt::format("{} for {} ms", waiting.what, waiting.timeout.count())};
    if (now - asked >= kBetweenQuestions && waiting.why_in_vain) {
      asked = now;
      if (const std::string why = waiting.why_in_vain(); !why.empty())
        return Error{Code::kPeerLost, fmt::format("{}: {}", waiting.what, why)};
    }
    if (!Pause(sleep, waiting.abort))
      return Error{Code::kAborted, fmt::format("{}, and its process group was aborted or "
                                               "destroyed",
                                               waiting.what)};
    sleep = std::min(2 * sleep, kLongestSleep);
  }
  return Ok();
}

}  // namespace

Status RaiseSignal(std::uint32_t& word, const SignalWaiting& waiting) {
  return ChangeInTime(word, 0, 1, waiting);
}

Status TakeSignal(std::uint32_t& word, const SignalWaiting& waiting) {
  return ChangeInTime(word, 1, 0, waiting);
}

}  // namespace ringlet::torch_api
