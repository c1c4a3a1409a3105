#include "transport/tcp/send_queues.hpp"

#include <algorithm>

namespace ringlet::transport {
namespace {

using namespace std::chrono_literals;

// The kernel queues as much as a network carries in about two round trips: 0.1 s around the world.
constexpr Instant kDrainMax = 250ms;
constexpr Instant kQuietMax = 1s;

double SecondsOf(const os::SendQueue& queue) {
  return static_cast<double>(queue.bytes) / static_cast<double>(queue.bytes_per_second);
}

}  // namespace

bool IsSlow(const os::SendQueue& queue) {
  if (queue.bytes == 0) return false;
  if (queue.quiet >= kQuietMax) return true;
  return queue.bytes_per_second > 0 &&
         SecondsOf(queue) > std::chrono::duration<double>(kDrainMax).count();
}

void SendQueues::Add(Rank peer, int fd) {
  const std::lock_guard lock(mutex_);
  peers_[fd] = peer;
}

void SendQueues::Remove(int fd) {
  const std::lock_guard lock(mutex_);
  peers_.erase(fd);
}

std::vector<SlowSend> SendQueues::Slow() const {
  std::map<std::uint32_t, SlowSend> slow;
  const std::lock_guard lock(mutex_);
  for (const auto& [fd, peer] : peers_) {
    const auto queue = os::SendQueueOf(fd);
    if (!queue || !IsSlow(*queue)) continue;
    SlowSend& all = slow.try_emplace(Index(peer), SlowSend{.peer = Index(peer)}).first->second;
    all.bytes += queue->bytes;
    all.bytes_per_second += queue->bytes_per_second;
    all.quiet = std::max(all.quiet, queue->quiet);
  }
  std::vector<SlowSend> list;
  for (const auto& [peer, send] : slow) list.push_back(send);
  return list;
}

}  // namespace ringlet::transport
