// The costs of defects: compares an all-reduce planned on a machine with and without the defect.
// Equal machines are planned once.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/gpus/all_reduce_rate.hpp"
#include "topo/check/defect.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// Bus bandwidths of each rank.
struct DefectCost {
  std::uint32_t hosts = 1;  ///< number of equal machines in the all-reduce
  topology::Bandwidth with;
  topology::Bandwidth without;

  topology::Bandwidth lost() const {
    return {without > with ? without.mb_per_s - with.mb_per_s : 0};
  }
};

/// Formats a cost: "24 of 48 GB/s of all-reduce over 2 hosts".
std::string ToText(const DefectCost& cost);

struct MachineCosts {
  /// Cost of each defect alone, with all others repaired. Null if plans cannot show its cost.
  std::vector<std::optional<DefectCost>> each = {};
  std::optional<DefectCost> together = {};  ///< cost of all defects that plans can show
  std::string why_not = {};                 ///< why a plan could not be made; else empty
  /// True if all narrow links together cost nothing in the plans.
  bool narrow_links_are_idle = false;
};

class CheckRates {
 public:
  /// Maximum number of defects planned one by one, to bound the time. All are planned together too.
  static constexpr std::size_t kPlannedDefectsMax = 32;

  explicit CheckRates(plan::GpuPlanOptions options) : options_(std::move(options)) {}

  /// Returns the costs for one host or for two, whichever loses the larger share.
  MachineCosts CostsOf(const topology::HostView& view,
                       const std::vector<topology::Defect>& defects);

 private:
  Result<topology::Bandwidth> RateOf(const topology::HostView& view, std::uint32_t hosts);
  std::optional<DefectCost> CostOf(const topology::HostView& with,
                                   const topology::HostView& without, std::string& why_not);

  bool AreNarrowLinksIdle(const topology::HostView& view, const topology::HostView& well,
                          const std::vector<topology::Defect>& defects);

  plan::GpuPlanOptions options_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, Result<topology::Bandwidth>> known_;
};

}  // namespace ringlet::cli
