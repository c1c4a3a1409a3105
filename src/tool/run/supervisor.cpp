#include "tool/run/supervisor.hpp"

#include <signal.h>

namespace ringlet::cli {
namespace {

// Returns true if another process killed the rank. A program that gives up may call abort() itself.
bool WasKilled(const RankEnd& end) {
  return end.how.signal != 0 && end.how.signal != SIGABRT;
}

}  // namespace

void Supervisor::OnEnds(const std::vector<RankEnd>& ends, Instant now) {
  running_ -= static_cast<std::uint32_t>(ends.size());
  if (keep_going_) return NoteEnds(ends);
  if (first_failure_ || user_signal_) return;
  for (const RankEnd& end : ends) {
    if (end.how.ok() || (suspect_ && !WasKilled(end))) continue;
    if (!suspect_) settled_ = now + kSettling;
    suspect_ = end;
    if (WasKilled(end)) return Conclude(now);
  }
  if (suspect_ && finished()) Conclude(now);
}

void Supervisor::NoteEnds(const std::vector<RankEnd>& ends) {
  if (user_signal_) return;
  for (const RankEnd& end : ends) {
    if (WasKilled(end)) {
      if (!suspect_) suspect_ = end;
    } else {
      has_survivor_ = true;
      if (!end.how.ok() && !first_failure_) first_failure_ = end;
    }
  }
  if (finished() && !has_survivor_) first_failure_ = suspect_;
}

void Supervisor::Conclude(Instant now) {
  first_failure_ = suspect_;
  EndAll(SIGTERM, now);
}

void Supervisor::OnSignal(int signal, Instant now) {
  if (user_signal_) return EndAll(SIGKILL, now);
  user_signal_ = signal;
  EndAll(signal, now);
}

void Supervisor::OnTick(Instant now) {
  if (IsSettling() && now >= settled_) Conclude(now);
  if (!grace_ends_ || now < *grace_ends_) return;
  grace_ends_ = std::nullopt;
  orders_.push_back(SIGKILL);
}

void Supervisor::EndAll(int signal, Instant now) {
  orders_.push_back(signal);
  grace_ends_ = now + grace_;
}

std::optional<int> Supervisor::TakeOrder() {
  if (orders_.empty()) return std::nullopt;
  const int order = orders_.front();
  orders_.erase(orders_.begin());
  return order;
}

std::optional<Instant> Supervisor::Deadline() const {
  if (finished()) return std::nullopt;
  return IsSettling() ? settled_ : grace_ends_;
}

}  // namespace ringlet::cli
