#include "frontends/cli/foreman.hpp"

#include <signal.h>

#include <algorithm>

namespace ringlet::cli {

void Foreman::OnEnds(const std::vector<RankEnd>& ends, Instant now) {
  running_ -= static_cast<std::uint32_t>(ends.size());
  if (first_failure_ || user_signal_) return;
  auto first = std::ranges::find_if(ends, [](const RankEnd& end) { return end.how.signal != 0; });
  if (first == ends.end())
    first = std::ranges::find_if(ends, [](const RankEnd& end) { return !end.how.ok(); });
  if (first == ends.end()) return;
  first_failure_ = *first;
  EndAll(SIGTERM, now);
}

void Foreman::OnSignal(int signal, Instant now) {
  if (user_signal_) return EndAll(SIGKILL, now);
  user_signal_ = signal;
  EndAll(signal, now);
}

void Foreman::OnTick(Instant now) {
  if (!patience_ends_ || now < *patience_ends_) return;
  patience_ends_ = std::nullopt;
  orders_.push_back(SIGKILL);
}

void Foreman::EndAll(int signal, Instant now) {
  orders_.push_back(signal);
  patience_ends_ = now + grace_;
}

std::optional<int> Foreman::TakeOrder() {
  if (orders_.empty()) return std::nullopt;
  const int order = orders_.front();
  orders_.erase(orders_.begin());
  return order;
}

std::optional<Instant> Foreman::Deadline() const {
  return finished() ? std::nullopt : patience_ends_;
}

}  // namespace ringlet::cli
