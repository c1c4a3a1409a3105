// Select: the only place that chooses how a collective runs, by an algorithm over links or by a way
// through the memory that the ranks of a host share.
//
// Measurements (the tuning file) override computed times, and the user's choice (RINGLET_HOST_ALGO)
// overrides both. Every rank chooses alone from values that are equal on all ranks, so that they
// agree. Facts that only one rank knows, such as whether its buffers are registered, are not used
// here: the ranks find out together whether all of them can run zero_copy and fetch, and otherwise
// run slices. With `adaptive`, they choose between these by the times of their operations. Pure.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collective/algorithm/algorithm.hpp"
#include "collective/call/call.hpp"
#include "collective/select/algorithm_choice.hpp"
#include "collective/select/tuning_table.hpp"

namespace ringlet::collective {

/// Size limits for each way through shared memory, in bytes.
struct ShmThresholds {
  // Compared with the bytes that a rank gives: all of its blocks if it has one per rank. Slices run
  // between the two. (EPYC, 2 ranks: one_shot is faster at 4 KiB, slices at 8 KiB.)
  std::size_t one_shot_max = 6 << 10;
  // The same for more than `ranks_of_large_one_shot` ranks, because each rank reads the posts of
  // all others. (EPYC, 2 cores, all_reduce among 128 ranks: one_shot takes 0.6 ms for 4 bytes
  // and 2.4 ms for 256 bytes, slices 1.0 and 1.2 ms.)
  std::uint32_t ranks_of_large_one_shot = 64;
  std::size_t small_one_shot_max = 32;
  std::size_t adaptive_min = 6 << 10;
  // The same for a broadcast. In slices, the root does not wait for the other ranks. (EPYC, 2
  // cores, a row of broadcasts of 8 KiB: 1.4 and 0.8 us among 2 ranks, 20 and 5 us among 8.)
  std::size_t adaptive_broadcast_min = 64 << 10;

  std::size_t OneShotMax(std::uint32_t ranks) const {
    return ranks > ranks_of_large_one_shot ? small_one_shot_max : one_shot_max;
  }
  std::size_t AdaptiveMin(CallKind kind) const {
    return kind == CallKind::kBroadcast ? adaptive_broadcast_min : adaptive_min;
  }
};

/// The values that determine the choice. Equal on all ranks of a communicator.
struct Tuner {
  CostModel model = {};
  ShmThresholds shm = {};
  AlgorithmChoice choice = {};
  TuningTable measured = {};  ///< overrides model and thresholds; its links replace the model's
};

/// An algorithm that can run a call over links.
struct Candidate {
  Algorithm algorithm = Algorithm::kRing;
  std::uint64_t time_ns = 0;
  bool allowed = true;  ///< by the user
  bool operator==(const Candidate&) const = default;
};

/// Returns the algorithms that can run the call, in the order of the enumerators. Allows all if the
/// user allows none of them, because the user's choice may need more hosts than there are.
/// \pre  !SharesMemory(layout)
std::vector<Candidate> CandidatesFor(const Call& call, const Layout& layout, const Tuner& tuner);

/// Returns the kinds of calls on which the user's choice has no effect: it allows no algorithm that
/// can run them on this layout, so Select ignores it.
std::vector<CallKind> KindsWithIgnoredChoice(const Layout& layout, const AlgorithmChoice& choice);

/// Returns the tuning file's choice. Empty if the file contains no allowed algorithm that can run
/// the call here.
std::optional<Algorithm> MeasuredFor(const Call& call, const Layout& layout, const Tuner& tuner);

/// Returns the fastest algorithm by measurement. Without one, returns over links the allowed
/// algorithm with the least time in the model, the first among equals. Through shared memory,
/// returns the choice by thresholds, or the first algorithm that is allowed and can run.
/// \pre  the call is not a message
Algorithm Select(const Call& call, const Layout& layout, const Tuner& tuner);

/// An entry of the score table: the algorithm for calls of one kind that exceed the entry before.
struct Score {
  std::size_t bytes_max = kAnyBytes;  ///< compared with BlockBytes
  Algorithm algorithm = Algorithm::kOneShot;
  bool measured = false;  ///< chosen by the tuning file
  bool operator==(const Score&) const = default;
};

/// Results of Select through shared memory for each kind and all sizes. Computed once, so that an
/// operation of a fraction of a microsecond looks its algorithm up in nanoseconds.
class ScoreTable {
 public:
  ScoreTable() = default;
  /// \pre  SharesMemory(layout)
  ScoreTable(const Layout& layout, const Tuner& tuner);

  /// Sorted by bytes_max; the last is kAnyBytes. One-shot for all_to_all_v: its messages use links,
  /// and its meeting carries no data.
  const std::vector<Score>& scores(CallKind kind) const {
    return scores_[static_cast<std::size_t>(kind)];
  }
  Algorithm For(CallKind kind, std::size_t bytes) const {
    const std::vector<Score>& scores = this->scores(kind);
    std::size_t i = 0;
    while (bytes > scores[i].bytes_max) ++i;
    return scores[i].algorithm;
  }

 private:
  std::array<std::vector<Score>, kCallKinds> scores_;
};

}  // namespace ringlet::collective
