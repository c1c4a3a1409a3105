#include "tool/check/check_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "topo/check/repair.hpp"
#include "topology/view/host_shape.hpp"

namespace ringlet::cli {
namespace {

using topology::Bandwidth;
using topology::Change;
using topology::Defect;
using topology::HostView;

constexpr std::array<std::uint32_t, 2> kHostCounts = {2, 1};

/// Returns all repairs except those of defect `but`. If `but` is past the end, returns all.
std::vector<Change> RepairsBut(const std::vector<Defect>& defects, std::size_t but) {
  std::vector<Change> changes;
  for (std::size_t i = 0; i < defects.size(); ++i)
    if (i != but) changes.insert(changes.end(), defects[i].repair.begin(), defects[i].repair.end());
  return changes;
}

std::string RateNumber(Bandwidth bandwidth) {
  const double gb = bandwidth.mb_per_s / 1000.0;
  return gb >= 10 ? fmt::format("{:.0f}", gb) : fmt::format("{:.1f}", gb);
}

}  // namespace

std::string ToText(const DefectCost& cost) {
  const std::string over =
      cost.hosts == 1 ? "within the host" : fmt::format("over {} hosts", cost.hosts);
  if (cost.lost().mb_per_s == 0)
    return fmt::format("none ({} GB/s of all-reduce either way)", RateNumber(cost.without));
  return fmt::format("{} of {} GB/s of all-reduce {}", RateNumber(cost.lost()),
                     RateNumber(cost.without), over);
}

Result<Bandwidth> CheckRates::RateOf(const HostView& view, std::uint32_t hosts) {
  const std::pair key(topology::ShapeOf(view).digest(), hosts);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  return known_.emplace(key, plan::AllReduceRate(view, hosts, options_)).first->second;
}

std::optional<DefectCost> CheckRates::CostOf(const HostView& with, const HostView& without,
                                             std::string& why_not) {
  const bool several = std::any_of(with.numa_nodes.begin(), with.numa_nodes.end(),
                                   [](const auto& node) { return node.host.has_value(); });
  std::optional<DefectCost> worst;
  for (const std::uint32_t hosts : kHostCounts) {
    if (several && hosts > 1) continue;
    if (hosts > 1 && without.nets.empty()) continue;
    const Result<Bandwidth> before = RateOf(with, hosts), after = RateOf(without, hosts);
    if (!before.ok() || !after.ok()) {
      why_not = before.ok() ? after.error().message : before.error().message;
      continue;
    }
    const DefectCost cost{hosts, *before, *after};
    const auto share = [](const DefectCost& one) {
      return one.without.mb_per_s == 0 ? 0.0
                                       : static_cast<double>(one.lost().mb_per_s) /
                                             static_cast<double>(one.without.mb_per_s);
    };
    if (!worst || share(cost) > share(*worst)) worst = cost;
  }
  return worst;
}

bool CheckRates::AreNarrowLinksIdle(const HostView& view, const HostView& well,
                                    const std::vector<Defect>& defects) {
  std::vector<Change> others;
  for (const Defect& defect : defects)
    if (defect.rule->word != topology::kNarrowRule)
      others.insert(others.end(), defect.repair.begin(), defect.repair.end());
  const Result<HostView> narrow = topology::Repaired(view, others);
  std::string why_not;
  const auto cost = narrow.ok() ? CostOf(*narrow, well, why_not) : std::nullopt;
  return cost && cost->lost().mb_per_s == 0 && why_not.empty();
}

MachineCosts CheckRates::CostsOf(const HostView& view, const std::vector<Defect>& defects) {
  MachineCosts costs;
  costs.each.resize(defects.size());
  const std::vector<Change> all = RepairsBut(defects, defects.size());
  if (all.empty()) return costs;
  if (view.gpus.empty()) {
    costs.why_not = "the file does not describe its GPUs; ringlet topo complete fills them in";
    return costs;
  }
  const Result<HostView> well = topology::Repaired(view, all);
  if (!well.ok()) {
    costs.why_not = well.error().message;
    return costs;
  }
  costs.together = CostOf(view, *well, costs.why_not);
  costs.narrow_links_are_idle = AreNarrowLinksIdle(view, *well, defects);
  std::size_t planned = 0;
  for (std::size_t i = 0; i < defects.size() && costs.together; ++i) {
    if (defects[i].repair.empty() || planned++ >= kPlannedDefectsMax) continue;
    const Result<HostView> sick = topology::Repaired(view, RepairsBut(defects, i));
    if (sick.ok()) costs.each[i] = CostOf(*sick, *well, costs.why_not);
  }
  return costs;
}

}  // namespace ringlet::cli
