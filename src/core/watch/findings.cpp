#include "watch/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

namespace ringlet::watch {
namespace {

using Reach = RankState::Reach;
using States = std::vector<RankState>;

constexpr std::size_t kFindingsMax = 32;

void AddMissing(const States& states, std::uint32_t ranks, std::vector<std::string>& findings) {
  std::vector<std::uint32_t> missing;
  auto it = states.begin();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    if (it != states.end() && it->rank == rank) {
      const bool known = it->reach != Reach::kUnknown;
      ++it;
      if (known) continue;
    }
    missing.push_back(rank);
  }
  if (!missing.empty())
    findings.push_back(fmt::format("the state of {} is unknown", RanksNamed(missing)));
}

/// True if some ranks have left in good order and no other rank needs them: the job is ending.
bool IsEnding(const States& states) {
  const auto has_left = [](const RankState& state) { return state.reach == Reach::kLeft; };
  const auto is_busy = [](const RankState& state) {
    return state.inside || state.forming || !state.failure.empty() ||
           state.reach == Reach::kSilent || state.process == "stopped";
  };
  return std::ranges::any_of(states, has_left) && std::ranges::none_of(states, is_busy);
}

void AddUnreached(const States& states, std::vector<std::string>& findings) {
  for (const RankState& state : states) {
    if (state.process == "stopped")
      findings.push_back(fmt::format("{} is stopped: kill -CONT resumes it", Describe(state)));
    else if (state.reach == Reach::kSilent)
      findings.push_back(
          fmt::format("{} does not answer: its process is stopped or cut off", Describe(state)));
    else if (state.reach == Reach::kGone)
      findings.push_back(fmt::format("{} has ended", Describe(state)));
    else if (state.reach == Reach::kLeft)
      findings.push_back(fmt::format("{} has left the communicator", Describe(state)));
  }
}

bool Compares(const RankState& state) {
  const bool reached = state.reach == Reach::kHere || state.reach == Reach::kSilent;
  return reached && !state.forming;
}
bool IsInCollective(const RankState& state) {
  return Compares(state) && state.inside && state.last && !IsMessage(*state.last);
}

/// Ranks in the same collective call.
struct RanksInCall {
  RecordedOperation call;
  std::vector<std::uint32_t> ranks;
};

// Finds ranks at the same position with different calls.
void AddDiverged(const States& states, std::vector<std::string>& findings) {
  std::map<std::uint64_t, std::vector<RanksInCall>> by_sequence;
  for (const RankState& state : states) {
    if (!Compares(state) || !state.last || IsMessage(*state.last)) continue;
    std::vector<RanksInCall>& camps = by_sequence[state.last->sequence];
    const auto same = [&](const RanksInCall& camp) { return AreSameCall(camp.call, *state.last); };
    const auto camp = std::ranges::find_if(camps, same);
    if (camp != camps.end())
      camp->ranks.push_back(state.rank);
    else
      camps.push_back({*state.last, {state.rank}});
  }
  for (const auto& [sequence, camps] : by_sequence) {
    if (camps.size() < 2) continue;
    std::string text;
    for (const RanksInCall& camp : camps)
      text += fmt::format("{}{} called {}", text.empty() ? "" : ", ", RanksNamed(camp.ranks),
                          ToText(camp.call));
    findings.push_back(text + ": all ranks must call the same operations in the same order");
  }
}

std::string WhereText(const RankState& state) {
  if (state.inside && state.last) return "is in " + ToText(*state.last);
  if (!state.elsewhere.empty()) return "is in " + state.elsewhere;
  const std::string activity = state.process == "running"    ? ": it computes"
                               : state.process == "sleeping" ? ": it sleeps or waits elsewhere"
                                                             : "";
  if (!state.last) return "has not called any operation" + activity;
  return fmt::format("is outside of any operation, the last was {}{}", ToText(*state.last),
                     activity);
}

// Finds ranks that have called fewer collectives than a rank that waits in the newest.
void AddBehind(const States& states, std::vector<std::string>& findings) {
  std::optional<RecordedOperation> newest;
  std::vector<std::uint32_t> waiting;
  for (const RankState& state : states) {
    if (!IsInCollective(state)) continue;
    if (!newest || state.last->sequence > newest->sequence) {
      newest = state.last;
      waiting.clear();
    }
    if (state.last->sequence == newest->sequence) waiting.push_back(state.rank);
  }
  if (!newest) return;
  for (const RankState& state : states) {
    if (!Compares(state) || state.operations > newest->sequence) continue;
    // A rank without an answer may have made any call.
    if (state.reach == Reach::kSilent && !state.last) continue;
    findings.push_back(fmt::format("{} has not called {}, where {} wait{}: it {}", Describe(state),
                                   ToText(*newest), RanksNamed(waiting),
                                   waiting.size() == 1 ? "s" : "", WhereText(state)));
  }
}

// Finds ranks that wait for the data of a slow sender. Ignores waits that have just begun.
void AddSlow(const States& states, std::vector<std::string>& findings) {
  constexpr Instant kWaitMin = std::chrono::seconds(1);
  for (const RankState& state : states)
    if (state.inside && state.since && *state.since < kWaitMin) return;
  for (const RankState& state : states)
    for (const SlowSend& send : state.slow_sends) {
      const auto peer = std::ranges::find(states, send.peer, &RankState::rank);
      if (peer != states.end() && peer->inside && peer->waits_for == state.rank)
        findings.push_back(Describe(state) + ToText(send));
    }
}

bool SendsSlowly(const RankState& state, const std::vector<std::uint32_t>& waiting) {
  return std::ranges::any_of(state.slow_sends, [&](const SlowSend& send) {
    return std::ranges::find(waiting, send.peer) != waiting.end();
  });
}

// Finds ranks in a message if the other rank of the message is outside any operation.
void AddUnanswered(const States& states, std::vector<std::string>& findings) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> waiting;
  for (const RankState& state : states)
    if (Compares(state) && state.inside && state.last && IsMessage(*state.last) && state.waits_for)
      waiting[*state.waits_for].push_back(state.rank);
  for (const auto& [awaited, ranks] : waiting) {
    const auto state = std::ranges::find(states, awaited, &RankState::rank);
    if (state == states.end() || !Compares(*state) || state->inside) continue;
    if (state->reach == Reach::kSilent || SendsSlowly(*state, ranks)) continue;
    findings.push_back(fmt::format(
        "{} wait{} for a message with {}: it has not called its side, or the link between is "
        "stuck; it {}",
        RanksNamed(ranks), ranks.size() == 1 ? "s" : "", Describe(*state), WhereText(*state)));
  }
}

void AddFailure(const States& states, std::vector<std::string>& findings) {
  const auto failed =
      std::ranges::find_if(states, [](const RankState& state) { return !state.failure.empty(); });
  if (failed != states.end()) findings.push_back("the communicator has failed: " + failed->failure);
}

void AddForming(const States& states, std::vector<std::string>& findings) {
  for (const RankState& state : states)
    if (state.forming && !state.phase.empty())
      findings.push_back(
          fmt::format("{} forms the communicator: {}", Describe(state), state.phase));
}

}  // namespace

std::string ToText(const RecoveryTimes& times) {
  const auto ms = [](Instant time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  std::string text = fmt::format("called {:.1f}, agreed {:.1f}, rebuilt {:.1f}", ms(times.called),
                                 ms(times.agreed), ms(times.rebuilt));
  if (times.first_result) text += fmt::format(", first result {:.1f}", ms(*times.first_result));
  return text + " ms after the failure";
}

std::string Describe(const RankState& state) {
  if (state.host.empty()) return fmt::format("rank {}", state.rank);
  return fmt::format("rank {} (host {}, pid {})", state.rank, state.host, state.pid);
}

std::string ToText(const SlowSend& send) {
  const std::string how =
      send.quiet >= std::chrono::seconds(1)
          ? fmt::format("nothing was acknowledged for {}", DurationText(send.quiet))
          : fmt::format("at {:.3f} MB/s", static_cast<double>(send.bytes_per_second) / 1e6);
  return fmt::format(
      " sends slowly to rank {}, which waits for it: {} bytes have not arrived, {}; look at the "
      "NIC "
      "of the sender and at the network between",
      send.peer, send.bytes, how);
}

std::string_view Name(RankState::Reach reach) {
  static constexpr std::array<std::string_view, 5> kNames = {"here", "silent", "left", "gone",
                                                             "unknown"};
  return kNames[static_cast<std::size_t>(reach)];
}

std::vector<std::string> FindingsOf(const std::vector<RankState>& states, std::uint32_t ranks) {
  std::vector<std::string> findings;
  if (IsEnding(states)) return findings;
  AddUnreached(states, findings);
  AddDiverged(states, findings);
  AddBehind(states, findings);
  AddSlow(states, findings);
  AddUnanswered(states, findings);
  AddFailure(states, findings);
  AddForming(states, findings);
  AddMissing(states, ranks, findings);
  if (findings.size() > kFindingsMax) {
    const std::size_t more = findings.size() - kFindingsMax;
    findings.resize(kFindingsMax);
    findings.push_back(fmt::format("and {} more", more));
  }
  return findings;
}

RankState StateOf(const RankTrace& trace) {
  RankState state{
      .rank = trace.rank, .host = trace.host, .pid = trace.pid, .failure = trace.failure};
  state.inside = trace.begun > trace.done;
  state.waits_for = trace.waits_for;
  state.slow_sends = trace.slow_sends;
  if (trace.operations.empty()) return state;
  state.last = trace.operations.back();
  state.inside = state.inside || state.last->progress == OperationState::kFailed;
  state.operations = state.last->sequence + (IsMessage(*state.last) ? 0 : 1);
  const Instant from = state.inside ? state.last->began : state.last->ended;
  if (from > Instant(0)) state.since = std::max(trace.taken - from, Instant(0));
  return state;
}

}  // namespace ringlet::watch
