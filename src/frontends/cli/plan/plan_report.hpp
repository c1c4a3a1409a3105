// A plan as text and as JSON. Pure.
#pragma once
#include <string>

#include "frontends/cli/plan/plan_view.hpp"

namespace ringlet::cli {

/// A block of lines for each pattern: channels, bandwidth, bound, time, why the search stopped.
std::string PlanText(const PlanView& view);
/// One object; the keys of a graph are those by which NCCL's own results are written down.
std::string PlanJson(const PlanView& view);

/// "0: NET mlx5_0 > GPU0 GPU3 > NET mlx5_1".
std::string ChannelText(const NodeView& node, const plan::LocalChannel& channel);
/// All channels by the bound, in percent, at most 100; 0 where there is no bound.
double PercentOfBound(const plan::PatternGraph& graph);

}  // namespace ringlet::cli
