// The one place where an algorithm is chosen for a call over links.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "collective/algorithm/algorithm.hpp"
#include "collective/call/call.hpp"
#include "collective/select/algorithm_choice.hpp"
#include "collective/select/cost.hpp"
#include "collective/select/tuning_table.hpp"

namespace ringlet::collective {

/// By what algorithms are chosen. The same value on all ranks of a communicator.
struct Tuner {
  CostModel model = {};
  AlgorithmChoice choice = {};
  TuningTable measured = {};  ///< its choices go before the model, its links into it
};

/// An algorithm that could do a call.
struct Candidate {
  Algorithm algorithm = Algorithm::kRing;
  std::uint64_t time_ns = 0;
  bool allowed = true;  ///< by the user
  bool operator==(const Candidate&) const = default;
};

/// Those that can, in the order of the enumerators. Where the user allows none of them, all are
/// allowed: what he allows may need more hosts than there are.
std::vector<Candidate> CandidatesFor(const Call& call, const Layout& layout, const Tuner& tuner);

/// Empty where nothing that is allowed here was measured.
std::optional<Algorithm> MeasuredFor(const Call& call, const Layout& layout, const Tuner& tuner);

/// The one that was measured to be the fastest, where it can do the call here and is allowed. Else
/// the allowed one that takes the least time by the model; of equals the first. Every rank chooses
/// alone, from values that are the same on all, so that they agree. Pure. \pre  the call is no
/// message
Algorithm Choose(const Call& call, const Layout& layout, const Tuner& tuner);

}  // namespace ringlet::collective
