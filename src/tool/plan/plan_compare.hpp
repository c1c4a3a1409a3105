// A plan beside the plan of a changed machine. Pure.
#pragma once
#include <string>
#include <vector>

#include "tool/plan/plan_gain.hpp"
#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

/// A plan, and the links that bound it.
struct BoundedPlan {
  const PlanView& view;
  const PlanBounds& bounds;
};

/// Rows of what differs and what does not, in two columns. \param changes  as of --what-if
std::string CompareText(const std::vector<std::string>& changes, const BoundedPlan& without,
                        const BoundedPlan& with);
/// One object: what_if, without, with; these two as PlanJson.
std::string CompareJson(const std::vector<std::string>& changes, const BoundedPlan& without,
                        const BoundedPlan& with);

}  // namespace ringlet::cli
