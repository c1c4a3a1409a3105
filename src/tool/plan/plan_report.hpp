// Formats a plan as text and as JSON. Pure.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tool/plan/plan_gain.hpp"
#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

/// Returns the bounds, then lines for each pattern: channels, bandwidth, bound, time, and why the
/// search stopped. \param bounds  may be null
std::string PlanText(const PlanView& view, const PlanBounds* bounds);
/// Returns one object. The keys of a graph are those of NCCL's recorded results.
/// \param bounds  may be null
nlohmann::ordered_json PlanJson(const PlanView& view, const PlanBounds* bounds);

/// Returns "24 channels", or "24 channels for rings, 16 for trees".
std::string CountsText(const plan::ChannelCounts& counts);

/// Returns one line for each number of channels and marks the selected one.
std::string ByChannelsText(const PlanView& view, const std::vector<plan::HostPlan>& plans);
std::string ByChannelsJson(const PlanView& view, const std::vector<plan::HostPlan>& plans);

/// Returns the bandwidth of all channels in percent of the bound, at most 100; 0 without a bound.
double PercentOfBound(const plan::PatternGraph& graph);

}  // namespace ringlet::cli
