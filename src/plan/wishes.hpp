// What a user wishes of the plan, out of the settings.
#pragma once
#include "base/settings.hpp"
#include "plan/join.hpp"
#include "plan/search.hpp"
#include "plan/tuning_choice.hpp"

namespace ringlet::plan {

/// MIN_NCHANNELS and MAX_NCHANNELS, and by their older names.
/// Errors  kInvalidArgument  the least is more than the most; names both
Result<ChannelLimits> ReadLimits(const Settings& settings);

/// For Search.
/// \param given  what GRAPH_FILE holds
/// Errors  kInvalidArgument  as ReadLimits; a word of ALGO or PROTO makes no sense
Result<SearchLimits> ReadWishes(const Settings& settings, GraphText given = {});

}  // namespace ringlet::plan
