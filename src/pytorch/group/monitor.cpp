#include "pytorch/group/monitor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "comm/service/clock.hpp"
#include "pytorch/store/formation.hpp"

namespace ringlet::torch_api {
namespace {

constexpr std::string_view kAllCame = "all came";
constexpr const char* kAborted = "the process group was aborted";

// A rank checks after this time whether awaited ranks have ended, which costs a request to the
// store for each of them. A barrier usually ends earlier.
constexpr std::chrono::milliseconds kBeforeLooking{10};

// The store answers the ranks one after another, so more ranks wait longer between two requests.
Backoff BackoffOf(const BarrierCall& barrier_call) {
  return Backoff({.first = std::chrono::microseconds(std::max(50u, 15 * barrier_call.size))});
}

// A rank stores the number of its last barrier at this key.
std::string ArrivalKey(std::uint32_t rank) {
  return fmt::format("muster:at:{}", rank);
}

// Each rank that reaches a barrier adds 1 to this counter, and the rank that completes it ends the
// barrier. When rank 0 gives up, it adds the number of all ranks, so that no later rank completes
// it.
std::string CountKey(std::uint64_t number) {
  return fmt::format("muster:{}:count", number);
}

std::string VerdictKey(std::uint64_t number) {
  return fmt::format("muster:{}", number);
}

// The missing ranks, and the reasons why some of them will never arrive.
struct MissingRanks {
  std::vector<std::uint32_t> missing;
  std::vector<std::pair<std::uint32_t, std::string>> in_vain = {};

  std::string Text(const BarrierCall& barrier_call) const {
    std::vector<std::uint32_t> named = missing;
    if (!barrier_call.wait_for_all)
      named = {in_vain.empty() ? missing.front() : in_vain.front().first};
    std::string text = fmt::format("Rank{} {} failed to pass monitoredBarrier",
                                   named.size() == 1 ? "" : "s", fmt::join(named, ", "));
    if (named.size() > in_vain.size())
      text += fmt::format(" in {} ms", barrier_call.timeout.count());
    const char* separator = ": ";
    for (const auto& [rank, why] : in_vain) {
      if (std::ranges::find(named, rank) == named.end()) continue;
      text += std::exchange(separator, "; ") + why;
    }
    return text;
  }
};

// Returns the number of the last barrier of a rank. It is a later one than rank 0's if the rank
// gave up first and called the next barrier.
std::uint64_t NumberIn(View arrival) {
  const std::string_view text = AsText(arrival);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Reads the store once per rank.
Result<MissingRanks> FindMissing(KeyStore& store, Presence& presence,
                                 const BarrierCall& barrier_call) {
  MissingRanks absence;
  for (std::uint32_t rank = 1; rank < barrier_call.size; ++rank) {
    RINGLET_TRY_ASSIGN(const auto found, store.Find(ArrivalKey(rank)));
    if (!found || NumberIn(*found) < barrier_call.number) absence.missing.push_back(rank);
  }
  absence.in_vain = AbsenceReason(presence, absence.missing);
  return absence;
}

// Ends the barrier with an error, unless all ranks have arrived by now.
Status GiveUp(KeyStore& store, const BarrierCall& barrier_call, const MissingRanks& absence) {
  RINGLET_TRY_ASSIGN(const std::uint64_t arrived,
                     store.CountUp(CountKey(barrier_call.number), barrier_call.size));
  // The last rank may have ended before it could report this.
  if (arrived == barrier_call.size)
    return store.Set(VerdictKey(barrier_call.number), AsView(kAllCame));
  const std::string verdict = absence.Text(barrier_call);
  RINGLET_TRY(store.Set(VerdictKey(barrier_call.number), AsView(verdict)));
  return Error{absence.in_vain.empty() ? Code::kTimeout : Code::kPeerLost, verdict};
}

// Waits until all ranks have arrived, or until further waiting is in vain.
Status AwaitAll(KeyStore& store, Presence& presence, const BarrierCall& barrier_call,
                const std::stop_token& abort) {
  const Instant begin = comm::Now(), end = begin + barrier_call.timeout;
  Backoff backoff = BackoffOf(barrier_call);
  while (true) {
    RINGLET_TRY_ASSIGN(const auto verdict, store.Find(VerdictKey(barrier_call.number)));
    if (verdict) return Ok();
    const Instant now = comm::Now();
    const bool over = now >= end;
    if (over ||
        (now >= begin + kBeforeLooking && !AbsenceReason(presence, barrier_call.size, 0).empty())) {
      RINGLET_TRY_ASSIGN(const MissingRanks absence, FindMissing(store, presence, barrier_call));
      const bool all_in_vain = absence.in_vain.size() == absence.missing.size();
      const bool in_vain = !absence.in_vain.empty() && (all_in_vain || !barrier_call.wait_for_all);
      if (over || in_vain) return GiveUp(store, barrier_call, absence);
    }
    if (!backoff.Rest(abort)) return Error{Code::kAborted, kAborted};
  }
}

// The last rank to arrive ends the barrier.
Status EndBarrier(KeyStore& store, const BarrierCall& barrier_call) {
  RINGLET_TRY(store.Set(VerdictKey(barrier_call.number), AsView(kAllCame)));
  if (barrier_call.number > 0) {  // all ranks have read the verdict of the previous barrier
    store.Erase(VerdictKey(barrier_call.number - 1));
    store.Erase(CountKey(barrier_call.number - 1));
  }
  return Ok();
}

// Returns the verdict of rank 0 or of the last rank, or the reason why it is missing.
Result<std::string> AwaitVerdict(KeyStore& store, Presence& presence,
                                 const BarrierCall& barrier_call, const std::stop_token& abort) {
  // Waits longer than rank 0, which gives up first and knows more.
  const Instant begin = comm::Now(), end = begin + 2 * barrier_call.timeout;
  Backoff backoff = BackoffOf(barrier_call);
  std::string why;
  while (true) {
    RINGLET_TRY_ASSIGN(const auto verdict, store.Find(VerdictKey(barrier_call.number)));
    if (verdict) return std::string(AsText(*verdict));
    if (!why.empty()) return why;
    const Instant now = comm::Now();
    if (now >= end)
      return fmt::format("no message within {} ms", (2 * barrier_call.timeout).count());
    if (!backoff.Rest(abort)) return Error{Code::kAborted, kAborted};
    if (now < begin + kBeforeLooking) continue;
    why = AbsenceReason(presence, 0);  // its verdict may have arrived before: check once more
  }
}

}  // namespace

Status RunMonitoredBarrier(KeyStore& store, Presence& presence, const BarrierCall& barrier_call,
                           const std::stop_token& abort) {
  if (barrier_call.size == 1) return Ok();
  if (barrier_call.rank == 0 && barrier_call.timeout.count() <= 0)
    return Error{Code::kTimeout,
                 fmt::format("Rank 0 timed out in monitoredBarrier after {} ms. No ranks "
                             "successfully processed in monitoredBarrier",
                             barrier_call.timeout.count())};
  RINGLET_TRY_ASSIGN(const std::uint64_t earlier, store.CountUp(CountKey(barrier_call.number)));
  if (earlier + 1 == barrier_call.size) return EndBarrier(store, barrier_call);
  if (barrier_call.rank == 0) return AwaitAll(store, presence, barrier_call, abort);
  // The rank counts before it stores its number. So if the counter is incomplete, rank 0 finds a
  // rank without a number.
  RINGLET_TRY(
      store.Set(ArrivalKey(barrier_call.rank), AsView(std::to_string(barrier_call.number))));
  const auto verdict = AwaitVerdict(store, presence, barrier_call, abort);
  if (verdict.ok() && *verdict == kAllCame) return Ok();
  return Error{Code::kTimeout,
               fmt::format("Rank {} successfully reached monitoredBarrier, but received errors "
                           "while waiting for send/recv from rank 0. Rank 0 reports: {}",
                           barrier_call.rank, verdict.ok() ? *verdict : verdict.error().message)};
}

}  // namespace ringlet::torch_api
