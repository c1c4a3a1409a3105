#include "comm/run/inquiry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "comm/service/long_wait.hpp"
#include "os/clock.hpp"
#include "watch/findings.hpp"

namespace ringlet::comm {
namespace {

using Reachability = Control::Reachability;

// A broken link is noticed at once. The control network reports the cause within this time.
constexpr std::chrono::milliseconds kExplanation(500);
// The time for the report of a death, after a rank has stopped listening, even if ranks are busy.
constexpr std::chrono::milliseconds kNewsOfDeath(2000);
// Time for finding the missing rank after an operation has timed out.
constexpr std::chrono::milliseconds kAnswer(1000);
constexpr std::uint32_t kHopsMax = 256;
// A rank that has waited this long, then twice as long, and so on, looks at what it waits for. If
// that has not changed, it queries the calls of other ranks. This finds different calls of two
// ranks if only one of them uses their link, because the link then does not carry the other call.
constexpr std::chrono::milliseconds kFirstLook(500);
constexpr std::uint32_t kLooksMax = 13;  // the last one after more than an hour
// Short, because the operation does not advance meanwhile.
constexpr std::chrono::milliseconds kInquiryAnswer(200);

/// Only valid after the time for a report of its death.
bool IsGone(Reachability presence) {
  return presence == Reachability::kLeft || presence == Reachability::kAbsent;
}

bool IsMessage(collective::CallKind kind) {
  return kind == collective::CallKind::kSendReceive;
}

// Returns text if the rank sends slowly to `whom`. Otherwise empty.
std::string SlowText(const std::vector<SlowSend>& sends, Rank whom) {
  const auto send = std::ranges::find(sends, Index(whom), &SlowSend::peer);
  return send == sends.end() ? "" : watch::ToText(*send);
}

}  // namespace

std::string Inquiry::MissingRanksText(const collective::Operation& running) {
  std::optional<Rank> suspect = running.Awaits();
  const std::uint64_t mine = control_.doing().operations;
  // Most awaited ranks wait themselves, so this follows the chain to a rank that does not. The
  // chain may be long and is bounded. A queried rank answers from its service thread.
  Rank waiting = self_;
  std::set<Rank> asked = {waiting};
  while (suspect && asked.size() <= kHopsMax && asked.insert(*suspect).second) {
    const std::string name = control_.roster().DescribeRank(*suspect);
    const auto [presence, activity] = control_.Ask(*suspect, kAnswer);
    if (presence != Reachability::kHere) {
      const std::string stopped = control_.roster().StoppedText(*suspect, is_stopped_);
      return name + " does not answer: its process " +
             (stopped.empty() ? "is stopped or has ended" : stopped);
    }
    const bool is_message = IsMessage(call_.operation);  // two ranks count messages differently
    if (!activity.waits_for && !is_message && activity.operations < mine)
      return fmt::format("{} has not called it: it has begun {} operations, rank {} has begun {}",
                         name, activity.operations, Index(self_), mine);
    if (const std::string slow = SlowText(activity.slow_sends, waiting); !slow.empty())
      return name + slow;
    if (!activity.waits_for)
      return name + (is_message ? " is in no operation: it has not called its side of the message, "
                                  "or the link between is stuck"
                                : " has finished its part; the link between is stuck");
    if (*activity.waits_for >= size_) return "";
    waiting = *std::exchange(suspect, Rank{*activity.waits_for});
  }
  if (suspect != self_) return "";
  // The ranks wait in a circle, which ends here.
  const std::string slow = SlowText(links_.reserve().send_queues->Slow(), waiting);
  return slow.empty() ? "" : control_.roster().DescribeRank(self_) + slow;
}

void Inquiry::SetCall(const collective::Fingerprint& call) {
  call_ = call;
  looks_ = 0;
  seen_waiting_for_.clear();
  seen_gone_.reset();
}

Status Inquiry::CompareCalls(const collective::Operation& running, bool given_up) {
  std::optional<Rank> suspect = running.Awaits();
  std::set<Rank> asked = {self_};
  while (suspect && asked.size() <= kHopsMax && asked.insert(*suspect).second) {
    const auto [presence, activity] = control_.Ask(*suspect, kInquiryAnswer);
    // A link reports that its peer has left, after all of the peer's data. Without a link, this
    // waits for the second look, because earlier data of the peer has arrived by then.
    const bool direct = suspect == running.Awaits() && links_.Find(*suspect) == nullptr;
    if (IsGone(presence) && direct && (std::exchange(seen_gone_, suspect) == suspect || given_up))
      return LeaveErrorOf(*suspect, running);
    collective::Header header{};
    if (presence != Reachability::kHere || activity.call.size() != header.size()) return Ok();
    std::copy(activity.call.begin(), activity.call.end(), header.begin());
    const auto theirs = collective::DecodeHeader(header);
    // Messages concern pairs. A different message, or a collective, is wrong only if it never ends.
    const bool alike = theirs && theirs->sequence == call_.sequence;
    const bool collectives = alike && !IsMessage(theirs->operation) && !IsMessage(call_.operation);
    const bool mixed = alike && IsMessage(theirs->operation) != IsMessage(call_.operation);
    if (collectives || (given_up && mixed && activity.waits_for))
      RINGLET_TRY(collective::CheckHeader(header, *suspect, call_, self_));
    if (!activity.waits_for || *activity.waits_for >= size_) return Ok();
    suspect = Rank{*activity.waits_for};
  }
  return Ok();
}

Error Inquiry::LeaveErrorOf(Rank whom, const collective::Operation& running) const {
  const std::string when = IsMessage(call_.operation)
                               ? fmt::format("a message after {} collectives", call_.sequence)
                               : fmt::format("operation {}", call_.sequence);
  return Error{
      .code = Code::kPeerLost,
      .message = fmt::format("{} left the communicator (destroyed or aborted it) before {}: {}",
                             control_.roster().DescribeRank(whom), when, running.WaitingFor()),
      .lost_rank = static_cast<int>(Index(whom))};
}

Status Inquiry::Check(Instant deadline, std::chrono::milliseconds timeout,
                      const collective::Operation& running) {
  if (auto failed = control_.failure()) return *failed;
  const Instant now = os::Now();
  control_.doing().WaitsFor(running.Awaits(), now);
  if (now < deadline) {
    const Instant waited = now - (deadline - timeout);
    if (waited >= LongWait::kPeriod && now - looked_around_ >= LongWait::kPeriod) {
      looked_around_ = now;
      (void)LongWait::Look();
      if (auto failed = control_.failure()) return *failed;
    }
    if (looks_ >= kLooksMax || waited < kFirstLook * (1 << looks_)) return Ok();
    ++looks_;
    // A slow operation that moves is not delayed.
    std::string waiting_for = running.WaitingFor();
    if (std::exchange(seen_waiting_for_, waiting_for) != waiting_for) {
      seen_gone_.reset();
      return Ok();
    }
    return CompareCalls(running, false);
  }
  RINGLET_TRY(CompareCalls(running, true));
  const std::string missing = MissingRanksText(running);
  if (auto failed = control_.failure()) return *failed;
  return Error{
      Code::kTimeout,
      fmt::format("{}{}{} timed out after {} ms: {}", missing, missing.empty() ? "" : "; ",
                  control_.roster().DescribeRank(self_), timeout.count(), running.WaitingFor())};
}

std::string Inquiry::Hint() const {
  if (process_.services().shortages() == shortages_) return "";
  return fmt::format("; {} has been out of file descriptors: raise ulimit -n",
                     control_.roster().DescribeRank(self_));
}

Error Inquiry::Conclude(const Error& error, const collective::Operation& ended) {
  concluded_ = ReasonOf(error, ended);
  return *concluded_;
}

Error Inquiry::ReasonOf(const Error& error, const collective::Operation& ended) {
  Error reason = error;
  if (error.code == Code::kPeerLost) {
    // The rank that lost a link may not know the cause. The control network reports it first.
    if (auto better = control_.AwaitFailure(kExplanation)) return *better;
    // No rank has died, because that would be known by now.
    const std::optional<Rank> lost = ended.Awaits();
    const auto presence =
        lost ? control_.Ask(*lost, kInquiryAnswer).presence : Reachability::kSilent;
    if (presence == Reachability::kAbsent)
      if (auto better = control_.AwaitFailure(kNewsOfDeath)) return *better;
    if (IsGone(presence)) {
      reason = LeaveErrorOf(*lost, ended);
    } else {
      reason.message = control_.roster().DescribeRank(self_) + ": " + error.message;
      if (presence == Reachability::kHere)
        reason.message +=
            fmt::format("; {} is alive: look for a firewall or a proxy between the two",
                        control_.roster().DescribeRank(*lost));
    }
  }
  reason.message += Hint();
  control_.Fail(reason);
  if (auto agreed = control_.AwaitFailure(kExplanation)) return *agreed;
  return reason;
}

}  // namespace ringlet::comm
