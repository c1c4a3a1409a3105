// The future events: a queue by time, and first in, first out within one instant.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/wire/machine.hpp"

namespace ringlet::sim {

enum class EventKind : std::uint8_t {
  // events of a node
  kStart,
  kTick,
  kNudge,
  kKill,
  kSilence,
  kStop,
  kContinue,
  // events of a host
  kKillHost,
  kSilenceHost,
  // events of a node's line; `parcel` has the details
  kConnected,
  kAccepted,
  kReceived,
  kClosed,
};

/// 24 bytes, because a million machines have several million events.
struct ScheduledEvent {
  Instant when{0};
  std::uint32_t target = 0;  ///< node or host
  std::uint32_t parcel = 0;  ///< index; unused by events without a parcel
  EventKind what = EventKind::kTick;
  bool at_nic = false;    ///< arrived at the target's network card, not yet at the target
  bool admitted = false;  ///< has waited for its turn on the target's processor
};

/// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: "Faster algorithms for the shortest path problem",
/// 1990). Time does not decrease, so an item only moves to finer buckets, at most 64 times, and in
/// long sequential runs. Far deadlines stay in one coarse bucket and cost no time.
class EventQueue {
 public:
  /// \param due  not earlier than the last popped item
  void Push(const ScheduledEvent& due);

  /// Returns true if the next item is due at or before `limit`. Then call Pop once.
  /// Cost: O(1), and now and then a bucket is spread over finer ones.
  bool Ready(Instant limit);
  ScheduledEvent Pop();

  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kBuckets = 65;
  std::size_t BucketOf(Instant when) const;
  void Put(const ScheduledEvent& due);

  // buckets_[0] holds the instant last_. buckets_[i] differs from it first in bit i - 1.
  std::array<std::vector<ScheduledEvent>, kBuckets> buckets_;
  std::size_t head_ = 0;  // number of popped items of buckets_[0]
  std::uint64_t last_ = 0;
  std::uint64_t used_ = 0;  // bit i - 1: buckets_[i] is not empty
  std::size_t size_ = 0;
};

}  // namespace ringlet::sim
