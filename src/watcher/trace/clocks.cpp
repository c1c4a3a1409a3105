#include "watcher/trace/clocks.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace ringlet::watch {
namespace {

// True for operations that no rank ends before every other rank has contributed. Portions of
// all_to_all_v may be empty, so it is not one of them.
bool NeedsAllRanks(const RecordedOperation& operation) {
  static const std::set<std::string_view> kCalls = {"all_reduce", "all_gather", "reduce_scatter",
                                                    "all_to_all", "barrier"};
  return kCalls.contains(operation.call) && (operation.count > 0 || operation.call == "barrier");
}

/// The time of a host's ranks in a collective, by the clock of the host.
struct HostCallInterval {
  Instant begun_after{0};                // the last of them began at this time or later
  Instant ended_until = Instant::max();  // the first of them ended at this time or sooner
};
using Stays = std::map<std::uint64_t, HostCallInterval>;  // by sequence

// Unmeasured times lie between those of the neighbours.
void AddCallIntervals(const RankTrace& trace, Stays& stays) {
  Instant before{0};
  for (const RecordedOperation& operation : trace.operations) {
    before = std::max({before, operation.began});
    if (NeedsAllRanks(operation) && before > Instant(0)) {
      HostCallInterval& stay = stays[operation.sequence];
      stay.begun_after = std::max(stay.begun_after, before);
    }
    before = std::max(before, operation.ended);
  }
  Instant after = Instant::max();
  for (auto it = trace.operations.rbegin(); it != trace.operations.rend(); ++it) {
    if (it->ended > Instant(0)) after = it->ended;
    if (NeedsAllRanks(*it) && it->progress == OperationState::kDone && after != Instant::max()) {
      HostCallInterval& stay = stays[it->sequence];
      stay.ended_until = std::min(stay.ended_until, after);
    }
    if (it->began > Instant(0)) after = it->began;
  }
}

/// Returns the shift from the times of `host` to those of `first`.
ClockShift ShiftOf(const Stays& first, const Stays& host, Instant by_unix) {
  Instant least = Instant::min(), most = Instant::max();
  for (const auto& [sequence, its] : host) {
    const auto it = first.find(sequence);
    if (it == first.end()) continue;
    const HostCallInterval& ours = it->second;
    // Each host ends after the other has begun.
    if (its.ended_until != Instant::max() && ours.begun_after > Instant(0))
      least = std::max(least, ours.begun_after - its.ended_until);
    if (ours.ended_until != Instant::max() && its.begun_after > Instant(0))
      most = std::min(most, ours.ended_until - its.begun_after);
  }
  if (least == Instant::min() || most == Instant::max() || least > most)
    return {.shift = by_unix, .error = std::nullopt};
  return {.shift = least + (most - least) / 2, .error = (most - least) / 2};
}

}  // namespace

std::vector<ClockShift> AlignClocks(const std::vector<RankTrace>& traces) {
  std::map<std::string, Stays> hosts;
  for (const RankTrace& trace : traces) AddCallIntervals(trace, hosts[trace.host_hash]);
  std::vector<ClockShift> shifts;
  std::map<std::string, ClockShift> known;
  for (const RankTrace& trace : traces) {
    if (trace.host_hash == traces.front().host_hash) {
      shifts.emplace_back();
      continue;
    }
    const auto it = known.find(trace.host_hash);
    if (it != known.end()) {
      shifts.push_back(it->second);
      continue;
    }
    const Instant by_unix =
        (trace.taken_unix - trace.taken) - (traces.front().taken_unix - traces.front().taken);
    shifts.push_back(ShiftOf(hosts[traces.front().host_hash], hosts[trace.host_hash], by_unix));
    known.emplace(trace.host_hash, shifts.back());
  }
  return shifts;
}

}  // namespace ringlet::watch
