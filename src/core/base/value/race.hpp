// Race: chooses among several ways to do the same work by the time that each took lately.
//
// The fastest way depends on the cores. Between cores that share a cache, copies through shared
// memory are fastest. Between other cores, a line that one of them has just written arrives about
// five times later, and the kernel's copy is faster. A virtual machine may move from one case to
// the other at any time. So thresholds of one processor are wrong on another, and a measurement
// does not stay valid.
//
// Pure: it takes times as values. The owner measures each operation.
#pragma once
#include <array>
#include <cstdint>

namespace ringlet {

class Race {
 public:
  static constexpr std::uint32_t kWaysMax = 3;
  /// Number of operations in a probe of another way. The first operation after a change does not
  /// count: the caches do not hold its memory yet, or some of its time belongs to the way before.
  /// A probe ends early if its way is several times slower than the best one.
  static constexpr std::uint32_t kProbe = 3;
  /// Number of operations between probes, at first and at most. Each unsuccessful probe doubles it,
  /// so that probes of slow ways take little time.
  static constexpr std::uint32_t kFirstInterval = 16, kLastInterval = 2048;

  /// \param ways  from 1 to kWaysMax; the first is the one to begin with
  explicit Race(std::uint32_t ways = 1);

  /// Returns the way for the next operation.
  std::uint32_t way() const { return probe_ < ways_ ? probe_ : best_; }
  /// Records the time of an operation that ran by way(). Any unit; 0 counts as 1.
  void Record(std::uint64_t time);

 private:
  void BeginProbe(std::uint32_t of);
  void EndProbe();
  void Settle(std::uint32_t on);

  std::uint32_t ways_;
  std::uint32_t best_ = 0;
  std::uint32_t probe_ = 0;  // the way that is being probed; ways_: none
  std::uint32_t last_probe_ = 0;
  std::uint32_t last_ = kWaysMax;  // the way of the last operation; kWaysMax: none
  std::uint32_t left_ = kProbe;    // operations until the probe ends, or until the next one begins
  std::uint32_t interval_ = kFirstInterval;
  bool settled_ = false;                         // all ways have been probed
  std::array<std::uint64_t, kWaysMax> times_{};  // least recent time of each; 0: unknown
  std::uint64_t expected_ = 0;                   // of the best way, at the last probe
};

}  // namespace ringlet
