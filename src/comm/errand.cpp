#include "comm/errand.hpp"

#include <fmt/format.h>

namespace ringlet::comm {

Errand::~Errand() {
  parts_.stop.request_stop();
  if (thread_.joinable()) thread_.join();
}

Result<bool> Errand::Advance() {
  if (finished_) return true;
  if (!done_.load(std::memory_order_acquire)) {
    if (!thread_.joinable())
      thread_ = std::thread([this] {
        outcome_ = parts_.run();
        done_.store(true, std::memory_order_release);
        parts_.waiter.Wake();
      });
    return false;
  }
  if (thread_.joinable()) thread_.join();
  if (outcome_->ok()) outcome_ = parts_.finish();
  RINGLET_TRY(*outcome_);
  finished_ = true;
  return true;
}

std::string Errand::WaitingFor() const {
  std::string ranks;
  for (const Rank peer : parts_.peers)
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", Index(peer));
  return fmt::format("rank {} in {} waits for rank{} {} to begin", Index(parts_.self),
                     parts_.purpose, parts_.peers.size() == 1 ? "" : "s", ranks);
}

std::optional<Rank> Errand::Awaits() const {
  return parts_.peers.empty() ? std::nullopt : std::optional(parts_.peers.front());
}

}  // namespace ringlet::comm
