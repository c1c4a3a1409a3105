// Formats the output of `ringlet explain` as JSON. Pure.
#pragma once
#include <string>

#include "tool/plan/plan_gain.hpp"
#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

/// Returns {"machine", "search", "plan", "nccl"}: the parts of the first node, the steps of its
/// searches, and the plans in the form of PlanJson. \param nccl  null: do not compare
std::string ExplainJson(const PlanView& view, const PlanBounds& bounds, const PlanView* nccl);

}  // namespace ringlet::cli
