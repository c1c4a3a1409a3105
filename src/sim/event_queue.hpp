// The events to come: a queue by time, first come first served within one instant.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/wire/machine.hpp"

namespace ringlet::sim {

enum class EventKind : std::uint8_t {
  // of a node
  kStart,
  kTick,
  kNudge,
  kKill,
  kSilence,
  kStop,
  kContinue,
  // of a host
  kKillHost,
  kSilenceHost,
  // of a line of a node; `parcel` says which
  kConnected,
  kAccepted,
  kReceived,
  kClosed,
};

/// 24 bytes: with a million machines there are several million of them.
struct Due {
  Instant when{0};
  std::uint32_t target = 0;  ///< node or host
  std::uint32_t parcel = 0;  ///< index; meaningless for what has none
  EventKind what = EventKind::kTick;
  bool at_nic = false;    ///< it has reached the target's network card, not yet the target
  bool admitted = false;  ///< it has waited for its turn on the target's processor
};

/// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: "Faster algorithms for the shortest path problem",
/// 1990): time never goes back, so an item only moves to finer buckets, at most 64 times in its
/// life, always in long sequential runs. Far deadlines stay in one coarse bucket and cost nothing.
class EventQueue {
 public:
  /// \param due  not earlier than what was popped last
  void Push(const Due& due);

  /// True when the next item is due at or before `limit`; Pop may then be called, once.
  /// Cost: now and then a bucket is spread over finer ones, else O(1).
  bool Ready(Instant limit);
  Due Pop();

  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t kBuckets = 65;
  std::size_t BucketOf(Instant when) const;
  void Put(const Due& due);

  // buckets_[0] is of the instant last_; buckets_[i] differs from it first in bit i - 1.
  std::array<std::vector<Due>, kBuckets> buckets_;
  std::size_t head_ = 0;  // of buckets_[0]: how many are popped
  std::uint64_t last_ = 0;
  std::uint64_t used_ = 0;  // bit i - 1: buckets_[i] is not empty
  std::size_t size_ = 0;
};

}  // namespace ringlet::sim
