// One thing that the search tries: how fast channels shall be and what they may use.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/channels/pattern_graph.hpp"

namespace ringlet::plan {

struct SearchStep {
  GraphId id = GraphId::kRing;
  Pattern pattern = Pattern::kRing;
  std::uint32_t intra_mb_per_s = 0;
  std::uint32_t inter_mb_per_s = 0;
  topology::PathType type_intra = topology::PathType::kLoc;  ///< the farthest allowed
  topology::PathType type_inter = topology::PathType::kLoc;
  bool same_channels = true;  ///< each channel visits devices in the order of the first
  std::uint8_t cross_nic = 0;
  std::uint32_t min_channels = 1;
  std::uint32_t max_channels = 1;
  bool operator==(const SearchStep&) const = default;
};

/// Why a search went no farther than it did.
enum class StepRefusal : std::uint8_t {
  kNone,  ///< it found all channels
  kType,  ///< a way is of a type that is not allowed, or there is none
  kLink,  ///< a link has too little left
  kNet,   ///< NICs have too little left, or none may be used
};

/// The outcome of one.
struct StepOutcome {
  SearchStep search_step;
  std::uint32_t channels = 0;  ///< at most, whether better or not
  bool improved = false;       ///< it is the best so far
  bool perfect = false;        ///< all channels
  bool budget_out = false;
  bool repeated = false;  ///< not run: equal to an earlier one in all that matters
  bool hopeless = false;  ///< not run: the limits allow nothing better
  /// The channels are those of a packing, divided: what this can have at most. 0: they were laid.
  topology::Bandwidth divided_of = {};
  std::uint64_t steps = 0;
  StepRefusal refusal = StepRefusal::kNone;  ///< where it came farthest
  std::optional<std::uint32_t> link = {};    ///< of kLink; as in SearchTrace::links
};

/// The search steps of one pattern in order, to tell how a plan came to be.
struct SearchTrace {
  GraphId id = GraphId::kRing;
  std::vector<StepOutcome> search_steps;
  std::vector<std::string> links;  ///< names of those that refused
};

}  // namespace ringlet::plan
