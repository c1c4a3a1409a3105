// Compares a plan with the plan of a changed machine. Pure.
#pragma once
#include <string>
#include <vector>

#include "tool/plan/plan_gain.hpp"
#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

/// A plan and the links that bound it.
struct BoundedPlan {
  const PlanView& view;
  const PlanBounds& bounds;
};

/// Returns rows with the values of both plans in two columns. \param changes  those of --what-if
std::string CompareText(const std::vector<std::string>& changes, const BoundedPlan& without,
                        const BoundedPlan& with);
/// Returns one object with what_if, without and with. The last two are as in PlanJson.
std::string CompareJson(const std::vector<std::string>& changes, const BoundedPlan& without,
                        const BoundedPlan& with);

}  // namespace ringlet::cli
