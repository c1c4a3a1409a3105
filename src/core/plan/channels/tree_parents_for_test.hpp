// The trees of a plan as a whole, combined from each rank's own computation.
#pragma once
#include <optional>
#include <vector>

#include "plan/channels/channel_plan.hpp"

namespace ringlet::plan {

/// The parent of each rank. Null for the root.
inline std::vector<std::optional<Rank>> TreeParents(const ChannelPlan& plan,
                                                    std::uint32_t channel) {
  std::vector<std::optional<Rank>> parents;
  for (std::uint32_t rank = 0; rank < plan.rank_count(); ++rank)
    parents.push_back(plan.At(Rank{rank}, channel).up);
  return parents;
}

}  // namespace ringlet::plan
