// Gains of a machine's rings by repairs and by single changes.
#pragma once
#include <string>
#include <vector>

#include "tool/plan/plan_limits.hpp"
#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

/// All rings of the first kind of node together.
struct Gain {
  std::string what;  ///< of a change the words of --what-if; of a repair what is defective
  topology::Bandwidth without, with;

  bool is_more() const;  ///< by a hundredth at least
};

struct Gains {
  std::vector<Gain> repairs = {};  ///< of defects, the best first
  std::vector<Gain> changes = {};  ///< of links that bound the plan, the best first
  std::string why_not = {};        ///< nothing was planned: why
};

/// Plans the machine of a view again, with each defect repaired and with each change that touches
/// the links that bound it.
/// \param groups  of the first node's ring
/// Cost    up to kPlannedGainsMax plans; none for hosts of more than kGainDevicesMax GPUs
Gains FindGains(const PlanRequest& request, const EnvMap& environment, const PlanView& view,
                const std::vector<LimitGroup>& groups);
inline constexpr std::size_t kPlannedGainsMax = 10;
inline constexpr std::size_t kGainDevicesMax = 16;

/// Two lines, without the last newline: "repair: ..." and "one change: ...".
std::string GainsText(const Gains& gains);
nlohmann::ordered_json GainsJson(const Gains& gains);

/// The limits of a plan, of the first kind of node.
struct PlanBounds {
  std::vector<LimitGroup> ring = {}, tree = {};
  Gains gains = {};
};
PlanBounds PlanBoundsOf(const PlanRequest& request, const EnvMap& environment,
                        const PlanView& view);
/// Three lines: the links that bound rings, and both of GainsText.
std::string ToText(const PlanBounds& bounds);

}  // namespace ringlet::cli
