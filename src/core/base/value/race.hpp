// Race: chooses among several ways to do the same work by the time that each took lately.
//
// Which way is fastest depends on where the ranks run. Between cores that share a cache, copies
// through shared memory are fastest. Between other cores, fresh cache lines travel five times more
// slowly, and the kernel's copy is faster. A virtual machine may move from one case to the other at
// any time. So no threshold of one processor fits another, and no measurement stays valid.
//
// Pure: it takes times as values. The owner measures each operation.
#pragma once
#include <array>
#include <cstdint>

namespace ringlet {

class Race {
 public:
  static constexpr std::uint32_t kWaysMax = 3;
  /// Operations of a probe of another way. The first does not count, because its memory is cold.
  static constexpr std::uint32_t kProbe = 3;
  /// Operations between probes, at first and at most. Each probe without success doubles them, so
  /// that probes of a much slower way take little time.
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
  std::uint32_t probe_ = 0;  // the way on probation; ways_: none
  std::uint32_t last_probe_ = 0;
  std::uint32_t left_ = kProbe;  // operations of the probe, or until the next
  std::uint32_t interval_ = kFirstInterval;
  bool settled_ = false;                         // all ways have had a probe
  std::array<std::uint64_t, kWaysMax> times_{};  // least time of each lately; 0: unknown
  std::uint64_t expected_ = 0;                   // of the best way, at the last probe
};

}  // namespace ringlet
