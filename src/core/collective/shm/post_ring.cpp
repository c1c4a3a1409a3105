#include "collective/shm/post_ring.hpp"

#include <algorithm>

#include "ringlet/status.hpp"

namespace ringlet::collective {

PostRing::PostSlot PostRing::Next(std::size_t bytes) {
  constexpr std::size_t kLineBytes = 64;
  RINGLET_ASSERT(bytes <= payload_bytes_ / 2);
  ++sequence_;
  const std::size_t lines = (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  std::uint64_t begin = end_;
  std::size_t offset = 0;
  if (lines > 0) {
    const std::size_t to_end = payload_bytes_ - end_ % payload_bytes_;
    if (lines > to_end) begin += to_end;
    offset = static_cast<std::size_t>(begin % payload_bytes_);
    end_ = begin + lines;
  }
  if (sequence_ > kPosts) over_ = std::max(over_, sequence_ - kPosts);
  while (over_ + 1 < sequence_ && begins_[(over_ + 1) % kPosts] + payload_bytes_ < end_) ++over_;
  begins_[sequence_ % kPosts] = begin;
  return {.offset = offset, .after = over_};
}

}  // namespace ringlet::collective
