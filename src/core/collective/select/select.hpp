// The one place where it is chosen how a collective runs: by which algorithm over links, or which
// way through the memory that the ranks of a host share.
//
// Measurements (the tuning file) go before computed times, and the user's choice
// (RINGLET_HOST_ALGO) before both. Every rank chooses alone, from values that are the same on all,
// so that they agree. Facts that only one rank knows, such as whether its buffers are registered,
// are not asked here: zero_copy and fetch find out together whether all can, and slices come next.
// Pure.
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

/// Up to and from what sizes each way through shared memory is taken, bytes.
struct ShmThresholds {
  /// That a rank gives: of calls with a block for each rank, all of them.
  std::size_t one_shot_max = 16 << 10;
  std::size_t zero_copy_min = 16 << 10;
  // Blocks that are fetched from the memory of other processes where it is not registered.
  std::size_t fetch_all_to_all_min = SIZE_MAX;
  std::size_t fetch_all_gather_min = SIZE_MAX;
  std::size_t fetch_broadcast_min = SIZE_MAX;
  std::size_t fetch_max = 0;

  /// Of ranks that have a core each: they fetch. (docs/decisions/0037, 0052)
  static constexpr ShmThresholds WithCores() {
    return {.fetch_all_to_all_min = 128 << 10,
            .fetch_all_gather_min = 2 << 20,
            .fetch_broadcast_min = 128 << 10,
            .fetch_max = 4 << 20};
  }
};

/// By what it is chosen. The same value on all ranks of a communicator, but for what is fetched:
/// where ranks differ in that, the vote of zero_copy settles it.
struct Tuner {
  CostModel model = {};
  ShmThresholds shm = {};
  AlgorithmChoice choice = {};
  TuningTable measured = {};  ///< its choices go before model and thresholds, its links into it
};

/// An algorithm that could do a call over links.
struct Candidate {
  Algorithm algorithm = Algorithm::kRing;
  std::uint64_t time_ns = 0;
  bool allowed = true;  ///< by the user
  bool operator==(const Candidate&) const = default;
};

/// Those that can, in the order of the enumerators. If the user allows none of them, all are
/// allowed: the user's choice may need more hosts than there are.
/// \pre  !SharesMemory(layout)
std::vector<Candidate> CandidatesFor(const Call& call, const Layout& layout, const Tuner& tuner);

/// The choice of the tuning file. Empty where it has nothing that can do the call here and is
/// allowed.
std::optional<Algorithm> MeasuredFor(const Call& call, const Layout& layout, const Tuner& tuner);

/// The fastest one by measurement. Else, over links, the allowed algorithm that takes the least
/// time by the model; of equals the first. Through shared memory what the thresholds say, or the
/// first that is allowed and can.
/// \pre  the call is no message
Algorithm Select(const Call& call, const Layout& layout, const Tuner& tuner);

/// An entry of the score table: what runs calls of one kind, of more bytes than the entry before.
struct Score {
  std::size_t bytes_max = kAnyBytes;  ///< BlockBytes
  Algorithm algorithm = Algorithm::kOneShot;
  bool measured = false;  ///< the tuning file says so
  bool operator==(const Score&) const = default;
};

/// The results of Select through shared memory, for calls of each kind and all sizes: resolved
/// once, so that an operation of a fraction of a microsecond looks it up in nanoseconds.
class ScoreTable {
 public:
  ScoreTable() = default;
  /// \pre  SharesMemory(layout)
  ScoreTable(const Layout& layout, const Tuner& tuner);

  /// In ascending order of bytes_max; the last is kAnyBytes. One-shot for all_to_all_v, whose
  /// messages go over links: its meeting has no data.
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
