// The user's limits of the plan, out of the settings.
#pragma once
#include "base/settings/settings.hpp"
#include "plan/channels/join.hpp"
#include "plan/routes/search_options.hpp"
#include "plan/search/search.hpp"
#include "plan/tuning/tuning_choice.hpp"

namespace ringlet::plan {

/// MIN_NCHANNELS and MAX_NCHANNELS, and by their older names.
/// Errors  kInvalidArgument  the least is more than the most; names both
Result<ChannelLimits> ReadLimits(const Settings& settings);

/// For SearchHost: the policy, and NCCL's variables that it heeds.
/// Errors  kInvalidArgument  as ReadLimits and topology::ReadPathOptions
Result<SearchOptions> ReadSearchOptions(const Settings& settings);

/// For Search.
/// \param given  what GRAPH_FILE holds
/// Errors  kInvalidArgument  as ReadLimits; a word of ALGO or PROTO makes no sense
Result<SearchLimits> ReadUserLimits(const Settings& settings, GraphText given = {});

}  // namespace ringlet::plan
