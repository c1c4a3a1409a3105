#include "sim/event_queue.hpp"

#include <algorithm>
#include <bit>

#include "ringlet/status.hpp"

namespace ringlet::sim {

std::size_t EventQueue::BucketOf(Instant when) const {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(when.count()) ^ last_));
}

void EventQueue::Put(const ScheduledEvent& due) {
  const std::size_t bucket = BucketOf(due.when);
  buckets_[bucket].push_back(due);
  if (bucket > 0) used_ |= std::uint64_t{1} << (bucket - 1);
}

void EventQueue::Push(const ScheduledEvent& due) {
  RINGLET_ASSERT(static_cast<std::uint64_t>(due.when.count()) >= last_);
  Put(due);
  ++size_;
}

bool EventQueue::Ready(Instant limit) {
  if (head_ < buckets_[0].size()) return Instant(static_cast<std::int64_t>(last_)) <= limit;
  if (used_ == 0) return false;
  const auto bucket = static_cast<std::size_t>(std::countr_zero(used_)) + 1;
  const Instant next = std::ranges::min_element(buckets_[bucket], {}, &ScheduledEvent::when)->when;
  if (next > limit) return false;  // last_ stays: the next push may be earlier
  buckets_[0].clear();
  head_ = 0;
  last_ = static_cast<std::uint64_t>(next.count());
  used_ &= ~(std::uint64_t{1} << (bucket - 1));
  // The order is kept, so items of one instant keep theirs. No item returns to this bucket.
  const std::vector<ScheduledEvent> spread = std::exchange(buckets_[bucket], {});
  for (const ScheduledEvent& due : spread) Put(due);
  return true;
}

ScheduledEvent EventQueue::Pop() {
  RINGLET_ASSERT(head_ < buckets_[0].size());
  --size_;
  return buckets_[0][head_++];
}

}  // namespace ringlet::sim
