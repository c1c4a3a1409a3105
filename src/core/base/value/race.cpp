#include "base/value/race.hpp"

#include <algorithm>
#include <utility>

#include "ringlet/status.hpp"

namespace ringlet {
namespace {

// A race compares least times, because a late rank or another program delays single operations. A
// least time rises by this part with each operation, so that old times lose their influence.
constexpr std::uint64_t kForgets = 16;

// A way replaces the best one only if it is faster by more than this part of the time.
constexpr std::uint64_t kMargin = 32;

// A probe ends early if an operation takes this many times as long as the best way. The first
// operation of a probe may be slow for other reasons.
constexpr std::uint64_t kTooSlow = 4, kFirstTooSlow = 16;

}  // namespace

Race::Race(std::uint32_t ways) : ways_(ways) {
  RINGLET_ASSERT(ways_ >= 1 && ways_ <= kWaysMax);
}

void Race::BeginProbe(std::uint32_t of) {
  probe_ = last_probe_ = of;
  times_[of] = 0;
  left_ = kProbe;
}

void Race::Settle(std::uint32_t on) {
  settled_ = true;
  best_ = on;
  probe_ = ways_;
  expected_ = times_[on];
  left_ = interval_;
}

void Race::EndProbe() {
  if (!settled_ && probe_ + 1 < ways_) return BeginProbe(probe_ + 1);
  if (!settled_) {
    const auto first = times_.begin();
    return Settle(static_cast<std::uint32_t>(std::min_element(first, first + ways_) - first));
  }
  const bool wins = times_[probe_] < times_[best_] - times_[best_] / kMargin;
  interval_ = wins ? kFirstInterval : std::min(interval_ * 2, kLastInterval);
  Settle(wins ? probe_ : best_);
}

void Race::Record(std::uint64_t time) {
  const std::uint32_t ran = way();
  const bool on_probe = probe_ < ways_;
  std::uint64_t& least = times_[ran];
  time = std::max<std::uint64_t>(time, 1);
  const bool counts = std::exchange(last_, ran) == ran;
  if (counts)
    least =
        least == 0 ? time : std::min(time, least + std::max<std::uint64_t>(least / kForgets, 1));
  if (ways_ == 1) return;
  --left_;
  if (on_probe) {
    const std::uint64_t best = times_[best_];  // of the first way until all have been probed
    const bool too_slow =
        ran != best_ && best > 0 && time / (counts ? kTooSlow : kFirstTooSlow) > best;
    if (too_slow && least == 0) least = time;
    if (too_slow || left_ == 0) EndProbe();
    return;
  }
  const bool slower_than_expected = least > expected_ + expected_ / 2;
  if (slower_than_expected) interval_ = kFirstInterval;
  if (left_ > 0 && !slower_than_expected) return;
  std::uint32_t next = (last_probe_ + 1) % ways_;
  if (next == best_) next = (next + 1) % ways_;
  BeginProbe(next);
}

}  // namespace ringlet
