#include "frontends/torch/group/monitor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "frontends/torch/group/formation.hpp"

namespace ringlet::torch_api {
namespace {

constexpr std::string_view kAllCame = "all came";

std::string PresenceKey(const Muster& muster, std::uint32_t rank) {
  return fmt::format("muster:{}:{}", muster.number, rank);
}

std::string VerdictKey(const Muster& muster) {
  return fmt::format("muster:{}", muster.number);
}

// The ranks that have not come in time; if not all are asked for, the first of them.
Result<std::vector<std::uint32_t>> Missing(KeyStore& store, const Muster& muster,
                                           const std::stop_token& abort) {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 1; rank < muster.size; ++rank) missing.push_back(rank);
  Backoff backoff;
  std::chrono::microseconds waited{0};
  while (true) {
    std::optional<Error> broken;
    std::erase_if(missing, [&](std::uint32_t rank) {
      const auto found = store.Find(PresenceKey(muster, rank));
      if (!found.ok()) broken = found.error();
      return found.ok() && found->has_value();
    });
    if (broken) return *broken;
    if (missing.empty() || waited >= muster.timeout) return missing;
    const auto pause = backoff.Next();
    if (!Pause(pause, abort)) return Error{Code::kAborted, "the process group was aborted"};
    waited += pause;
  }
}

Status Preside(KeyStore& store, const Muster& muster, const std::stop_token& abort) {
  if (muster.timeout.count() <= 0)
    return Error{Code::kTimeout,
                 fmt::format("Rank 0 timed out in monitoredBarrier after {} ms. No ranks "
                             "successfully processed in monitoredBarrier",
                             muster.timeout.count())};
  RINGLET_TRY_ASSIGN(auto missing, Missing(store, muster, abort));
  for (std::uint32_t rank = 1; rank < muster.size; ++rank) store.Erase(PresenceKey(muster, rank));
  if (missing.empty()) return store.Set(VerdictKey(muster), AsView(kAllCame));
  if (!muster.wait_for_all) missing = {missing.front()};
  const std::string verdict =
      fmt::format("Rank{} {} failed to pass monitoredBarrier in {} ms",
                  missing.size() == 1 ? "" : "s", fmt::join(missing, ", "), muster.timeout.count());
  RINGLET_TRY(store.Set(VerdictKey(muster), AsView(verdict)));
  return Error{Code::kTimeout, verdict};
}

}  // namespace

Status HoldMuster(KeyStore& store, const Muster& muster, const std::stop_token& abort) {
  if (muster.size == 1) return Ok();
  if (muster.rank == 0) return Preside(store, muster, abort);
  RINGLET_TRY(store.Set(PresenceKey(muster, muster.rank), AsView("here")));
  // Rank 0 gives up first and knows more: wait longer than it does.
  const auto verdict = Await(store, VerdictKey(muster), muster.timeout * 2, abort);
  if (verdict.ok() && AsText(*verdict) == kAllCame) return Ok();
  return Error{
      Code::kTimeout,
      fmt::format(
          "Rank {} successfully reached monitoredBarrier, but received errors while waiting "
          "for send/recv from rank 0. Rank 0 says: {}",
          muster.rank, verdict.ok() ? AsText(*verdict) : verdict.error().message)};
}

}  // namespace ringlet::torch_api
