#include "pytorch/group/monitor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "comm/service/clock.hpp"
#include "pytorch/store/formation.hpp"

namespace ringlet::torch_api {
namespace {

constexpr std::string_view kAllCame = "all came";
constexpr const char* kAborted = "the process group was aborted";

std::string ArrivalKey(const BarrierCall& barrier_call, std::uint32_t rank) {
  return fmt::format("muster:{}:{}", barrier_call.number, rank);
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

// Ends at the deadline, or as soon as further waiting is in vain.
Result<MissingRanks> AwaitAll(KeyStore& store, Presence& presence, const BarrierCall& barrier_call,
                              const std::stop_token& abort) {
  MissingRanks absence;
  for (std::uint32_t rank = 1; rank < barrier_call.size; ++rank) absence.missing.push_back(rank);
  const Instant end = comm::Now() + barrier_call.timeout;
  Backoff backoff;
  while (true) {
    std::optional<Error> broken;
    std::erase_if(absence.missing, [&](std::uint32_t rank) {
      const auto found = store.Find(ArrivalKey(barrier_call, rank));
      if (!found.ok()) broken = found.error();
      return found.ok() && found->has_value();
    });
    if (broken) return *broken;
    absence.in_vain = AbsenceReason(presence, absence.missing);
    const bool enough = barrier_call.wait_for_all
                            ? absence.in_vain.size() == absence.missing.size()
                            : !absence.in_vain.empty() || absence.missing.empty();
    if (enough || comm::Now() >= end) return absence;
    if (!backoff.Rest(abort)) return Error{Code::kAborted, kAborted};
  }
}

Status CollectArrivals(KeyStore& store, Presence& presence, const BarrierCall& barrier_call,
                       const std::stop_token& abort) {
  if (barrier_call.timeout.count() <= 0)
    return Error{Code::kTimeout,
                 fmt::format("Rank 0 timed out in monitoredBarrier after {} ms. No ranks "
                             "successfully processed in monitoredBarrier",
                             barrier_call.timeout.count())};
  RINGLET_TRY_ASSIGN(const MissingRanks absence, AwaitAll(store, presence, barrier_call, abort));
  for (std::uint32_t rank = 1; rank < barrier_call.size; ++rank)
    store.Erase(ArrivalKey(barrier_call, rank));
  if (absence.missing.empty()) {
    // All ranks have read the verdict of the previous barrier.
    if (barrier_call.number > 0) store.Erase(VerdictKey(barrier_call.number - 1));
    return store.Set(VerdictKey(barrier_call.number), AsView(kAllCame));
  }
  const std::string verdict = absence.Text(barrier_call);
  RINGLET_TRY(store.Set(VerdictKey(barrier_call.number), AsView(verdict)));
  return Error{absence.in_vain.empty() ? Code::kTimeout : Code::kPeerLost, verdict};
}

// Returns rank 0's verdict, or the reason why it is missing.
Result<std::string> AwaitVerdict(KeyStore& store, Presence& presence,
                                 const BarrierCall& barrier_call, const std::stop_token& abort) {
  // Waits longer than rank 0, which gives up first and knows more.
  const Instant end = comm::Now() + 2 * barrier_call.timeout;
  Backoff backoff;
  std::string why;
  while (true) {
    RINGLET_TRY_ASSIGN(const auto verdict, store.Find(VerdictKey(barrier_call.number)));
    if (verdict) return std::string(AsText(*verdict));
    if (!why.empty()) return why;
    if (comm::Now() >= end)
      return fmt::format("no message within {} ms", (2 * barrier_call.timeout).count());
    if (!backoff.Rest(abort)) return Error{Code::kAborted, kAborted};
    why = AbsenceReason(presence, 0);  // its verdict may have arrived before: check once more
  }
}

}  // namespace

Status RunMonitoredBarrier(KeyStore& store, Presence& presence, const BarrierCall& barrier_call,
                           const std::stop_token& abort) {
  if (barrier_call.size == 1) return Ok();
  if (barrier_call.rank == 0) return CollectArrivals(store, presence, barrier_call, abort);
  RINGLET_TRY(store.Set(ArrivalKey(barrier_call, barrier_call.rank), AsView("here")));
  const auto verdict = AwaitVerdict(store, presence, barrier_call, abort);
  if (verdict.ok() && *verdict == kAllCame) return Ok();
  return Error{Code::kTimeout,
               fmt::format("Rank {} successfully reached monitoredBarrier, but received errors "
                           "while waiting for send/recv from rank 0. Rank 0 reports: {}",
                           barrier_call.rank, verdict.ok() ? *verdict : verdict.error().message)};
}

}  // namespace ringlet::torch_api
