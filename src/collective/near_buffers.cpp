#include "collective/near_buffers.hpp"

#include <mutex>

namespace ringlet::collective {

void NearBuffers::Open(std::uint32_t rank, Pair pair) {
  Entry& entry = entries_[rank];
  const std::unique_lock lock(entry.mutex);
  entry.pair = pair;
  entry.open = true;
}

void NearBuffers::Close(std::uint32_t rank) {
  Entry& entry = entries_[rank];
  const std::unique_lock lock(entry.mutex);
  entry.open = false;
}

NearBuffers::Visit::Visit(NearBuffers& buffers, const std::vector<std::uint32_t>& ranks) {
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
