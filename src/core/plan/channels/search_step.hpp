// An attempt of the search: the required bandwidth of channels and the allowed path types.
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
  topology::PathType type_intra = topology::PathType::kLoc;  ///< the farthest type allowed
  topology::PathType type_inter = topology::PathType::kLoc;
  bool same_channels = true;  ///< each channel visits devices in the order of the first
  std::uint8_t cross_nic = 0;
  std::uint32_t min_channels = 1;
  std::uint32_t max_channels = 1;
  bool operator==(const SearchStep&) const = default;
};

/// The reason why a search step found no more channels.
enum class StepRefusal : std::uint8_t {
  kNone,  ///< the step found all channels
  kType,  ///< a path is missing, or its type is not allowed
  kLink,  ///< a link has too little bandwidth left
  kNet,   ///< NICs have too little bandwidth left, or none is allowed
};

/// The outcome of one search step.
struct StepOutcome {
  SearchStep search_step;
  std::uint32_t channels = 0;  ///< the most that the step reached, improved or not
  bool improved = false;       ///< the step gave the best result so far
  bool perfect = false;        ///< the step found all channels
  bool budget_out = false;
  bool repeated = false;  ///< not run: an earlier step was equal in all relevant values
  bool hopeless = false;  ///< not run: the limits exclude a better result
  /// Upper limit of the step, if its channels are divided from a packing. 0: the step placed them.
  topology::Bandwidth divided_of = {};
  std::uint64_t steps = 0;
  StepRefusal refusal = StepRefusal::kNone;  ///< at the farthest point of the step
  std::optional<std::uint32_t> link = {};    ///< for kLink: an index of SearchTrace::links
};

/// The search steps of one pattern in order. They explain the origin of a plan.
struct SearchTrace {
  GraphId id = GraphId::kRing;
  std::vector<StepOutcome> search_steps;
  std::vector<std::string> links;  ///< names of the links that refused a channel
};

}  // namespace ringlet::plan
