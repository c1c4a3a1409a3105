// Reads the user's limits of a plan from the settings.
#pragma once
#include "base/settings/settings.hpp"
#include "plan/channels/join.hpp"
#include "plan/routes/search_options.hpp"
#include "plan/search/search.hpp"
#include "plan/tuning/tuning_choice.hpp"

namespace ringlet::plan {

/// Reads MIN_NCHANNELS, MAX_NCHANNELS and their older names. The minimum wins over the maximum.
Result<ChannelLimits> ReadLimits(const Settings& settings);

/// Reads the policy and NCCL's variables for SearchHost.
/// Errors  kInvalidArgument  as topology::ReadPathOptions
Result<SearchOptions> ReadSearchOptions(const Settings& settings);

/// Reads the limits for Search.
/// \param given  contents of GRAPH_FILE
/// Errors  kInvalidArgument  ALGO or PROTO contains an unknown word
Result<SearchLimits> ReadUserLimits(const Settings& settings, GraphText given = {});

}  // namespace ringlet::plan
