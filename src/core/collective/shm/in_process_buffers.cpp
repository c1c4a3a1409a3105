#include "collective/shm/in_process_buffers.hpp"

#include <mutex>

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

}  // namespace ringlet::collective
