// The output of `ringlet explain`, as JSON. Pure.
#pragma once
#include <string>

#include "tool/plan/plan_gain.hpp"
#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

/// {"machine", "search", "plan", "nccl"}: what the first node has, the steps of its searches, and
/// the plans as PlanJson has them. \param nccl  null: not compared
std::string ExplainJson(const PlanView& view, const PlanBounds& bounds, const PlanView* nccl);

}  // namespace ringlet::cli
