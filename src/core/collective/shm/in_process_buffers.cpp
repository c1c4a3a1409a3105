#include "collective/shm/in_process_buffers.hpp"

namespace ringlet::collective {

void InProcessBuffers::Open(std::uint32_t rank, Pair pair) {
  Entry& entry = entries_[rank];
  const std::unique_lock lock(entry.mutex);
  entry.pair = pair;
  entry.open = true;
}

void InProcessBuffers::Close(std::uint32_t rank) {
  Entry& entry = entries_[rank];
  const std::unique_lock lock(entry.mutex);
  entry.open = false;
}

InProcessBuffers::Visit::Visit(InProcessBuffers& buffers, const std::vector<std::uint32_t>& ranks) {
  locks_.reserve(ranks.size());
  for (const std::uint32_t rank : ranks) {
    locks_.emplace_back(buffers.entries_[rank].mutex);
    if (buffers.entries_[rank].open) continue;
    granted_ = false;
    closed_ = rank;
    locks_.clear();
    return;
  }
}

std::shared_ptr<InProcessBuffers> InProcessBuffersTable::Of(const Secret& secret,
                                                            std::uint32_t ranks) {
  const std::lock_guard lock(mutex_);
  std::erase_if(buffers_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<InProcessBuffers>& known = buffers_[secret];
  auto buffers = known.lock();
  if (!buffers) known = buffers = std::make_shared<InProcessBuffers>(ranks);
  return buffers;
}

}  // namespace ringlet::collective
