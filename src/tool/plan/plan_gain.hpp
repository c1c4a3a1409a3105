// Gains of a machine's rings from repairs and from single changes.
#pragma once
#include <string>
#include <vector>

#include "tool/plan/plan_limits.hpp"
#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

/// Total bandwidth of the rings on the first kind of node, before and after a change.
struct Gain {
  std::string what;  ///< for a change the words of --what-if; for a repair the defective part
  topology::Bandwidth without, with;

  bool is_more() const;  ///< at least one percent more
};

struct Gains {
  std::vector<Gain> repairs = {};  ///< repairs of defects, best first
  std::vector<Gain> changes = {};  ///< changes of links that bound the plan, best first
  std::string why_not = {};        ///< why no gains were computed
};

/// Plans the machine again with each defect repaired, and with each change to a link in `groups`.
/// \param groups  limits of the first node's ring
/// Cost    up to kPlannedGainsMax plans; none for hosts with more than kGainDevicesMax GPUs
Gains FindGains(const PlanRequest& request, const EnvMap& environment, const PlanView& view,
                const std::vector<LimitGroup>& groups);
inline constexpr std::size_t kPlannedGainsMax = 10;
inline constexpr std::size_t kGainDevicesMax = 16;

/// Returns two lines without the last newline: "repair: ..." and "one change: ...".
std::string GainsText(const Gains& gains);
nlohmann::ordered_json GainsJson(const Gains& gains);

/// The limits of a plan on the first kind of node.
struct PlanBounds {
  std::vector<LimitGroup> ring = {}, tree = {};
  Gains gains = {};
};
PlanBounds PlanBoundsOf(const PlanRequest& request, const EnvMap& environment,
                        const PlanView& view);
/// Returns three lines: the links that bound rings, and the lines of GainsText.
std::string ToText(const PlanBounds& bounds);

}  // namespace ringlet::cli
