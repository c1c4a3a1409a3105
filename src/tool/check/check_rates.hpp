// The costs of defects: an all-reduce planned on a machine with them and without. Plans of machines
// that are alike are made once.
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

/// Bandwidths on the bus of each rank.
struct DefectCost {
  std::uint32_t hosts = 1;  ///< machines alike that take part
  topology::Bandwidth with;
  topology::Bandwidth without;

  topology::Bandwidth lost() const {
    return {without > with ? without.mb_per_s - with.mb_per_s : 0};
  }
};

/// "24 of 48 GB/s of all-reduce over 2 hosts".
std::string ToText(const DefectCost& cost);

struct MachineCosts {
  /// Of each defect alone, all others repaired; nothing where no plan can tell.
  std::vector<std::optional<DefectCost>> each = {};
  std::optional<DefectCost> together = {};  ///< of all that plans can tell about
  std::string why_not = {};                 ///< if the machine cannot be planned at all
  /// Whether all narrow links together cost nothing, as plans tell.
  bool narrow_links_are_idle = false;
};

class CheckRates {
 public:
  /// Of the defects of a machine the first ones are planned by themselves, so that the time is
  /// bounded; all of them together.
  static constexpr std::size_t kPlannedDefectsMax = 32;

  explicit CheckRates(plan::GpuPlanOptions options) : options_(std::move(options)) {}

  /// Among one host and two, the number for which more is lost.
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
