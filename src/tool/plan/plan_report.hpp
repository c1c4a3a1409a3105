// A plan as text and as JSON. Pure.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tool/plan/plan_gain.hpp"
#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

/// The bounds, then a block of lines for each pattern: channels, bandwidth, bound, time, why
/// the search stopped. \param bounds  may be null
std::string PlanText(const PlanView& view, const PlanBounds* bounds);
/// One object; the keys of a graph are those by which NCCL's own results are written down.
/// \param bounds  may be null
nlohmann::ordered_json PlanJson(const PlanView& view, const PlanBounds* bounds);

/// "24 channels", or "24 channels for rings, 16 for trees".
std::string CountsText(const plan::ChannelCounts& counts);

/// A line for each number of channels, and which is taken.
std::string ByChannelsText(const PlanView& view, const std::vector<plan::HostPlan>& plans);
std::string ByChannelsJson(const PlanView& view, const std::vector<plan::HostPlan>& plans);

/// All channels by the bound, in percent, at most 100; 0 where there is no bound.
double PercentOfBound(const plan::PatternGraph& graph);

}  // namespace ringlet::cli
