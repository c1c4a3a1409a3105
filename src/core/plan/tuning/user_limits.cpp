#include "plan/tuning/user_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::plan {

Result<ChannelLimits> ReadLimits(const Settings& settings) {
  const std::uint64_t least =
      std::max({settings.min_nchannels, settings.min_nrings, settings.min_ctas});
  std::uint64_t most = kChannelsMax;
  for (const std::uint64_t one : {settings.max_nchannels, settings.max_nrings, settings.max_ctas})
    if (one > 0) most = std::min(most, one);
  most = std::max(most, least);  // as in NCCL
  return ChannelLimits{.min = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, least)),
                       .max = static_cast<std::uint32_t>(most)};
}

Result<SearchOptions> ReadSearchOptions(const Settings& settings) {
  SearchOptions options;
  if (settings.plan_policy == PlanPolicy::kCompat) options.policy = Policy::kCompat;
  // Join() doubles the channels of the search.
  RINGLET_TRY_ASSIGN(const ChannelLimits limits, ReadLimits(settings));
  options.channels_min = (limits.min + 1) / 2;
  options.channels_max = (limits.max + 1) / 2;
  options.knee = limits.min == 1 && limits.max == kChannelsMax;  // otherwise the user decides
  RINGLET_TRY_ASSIGN(const topology::PathOptions paths, topology::ReadPathOptions(settings));
  options.net_policy = paths.net_policy;
  options.cross_nic = static_cast<std::uint32_t>(settings.cross_nic);
  options.nvls = settings.nvls_enable != 0;
  return options;
}

Result<SearchLimits> ReadUserLimits(const Settings& settings, GraphText given) {
  RINGLET_TRY(ReadTuningChoice(settings));
  RINGLET_TRY_ASSIGN(const ChannelLimits limits, ReadLimits(settings));
  SearchLimits user_limits;
  user_limits.plain = settings.plan_policy == PlanPolicy::kCompat;
  user_limits.channels_min = limits.min;
  user_limits.channels_max = limits.max;
  user_limits.given = std::move(given);
  return user_limits;
}

}  // namespace ringlet::plan
