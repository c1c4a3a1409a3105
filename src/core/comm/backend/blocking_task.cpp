#include "comm/backend/blocking_task.hpp"

#include <fmt/format.h>

namespace ringlet::comm {

BlockingTask::~BlockingTask() {
  parts_.stop.request_stop();
  if (thread_.joinable()) thread_.join();
}

Result<bool> BlockingTask::Advance() {
  moved_ = false;
  if (parts_.peers.empty()) return true;
  if (parts_.run && !begun_) {
    RINGLET_TRY_ASSIGN(thread_, os::StartThread("to make links", [this](const std::stop_token&) {
                         outcome_ = os::Caught(parts_.run);
                         done_.store(true);
                         parts_.waiter.Wake();
                       }));
    begun_ = true;
  }
  if (done_.load()) RINGLET_TRY(*outcome_);
  RINGLET_TRY_ASSIGN(std::vector<Rank> missing, parts_.take());
  moved_ = missing.size() != parts_.peers.size();
  parts_.peers = std::move(missing);
  return parts_.peers.empty();
}

std::string BlockingTask::WaitingFor() const {
  std::string ranks;
  for (const Rank peer : parts_.peers)
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", Index(peer));
  return fmt::format("rank {} in {} waits for rank{} {} to begin", Index(parts_.self),
                     parts_.purpose, parts_.peers.size() == 1 ? "" : "s", ranks);
}

std::optional<Rank> BlockingTask::Awaits() const {
  return parts_.peers.empty() ? std::nullopt : std::optional(parts_.peers.front());
}

}  // namespace ringlet::comm
