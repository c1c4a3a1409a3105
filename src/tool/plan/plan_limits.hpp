// The links that bound a plan, by name, and the gain from one change of the machine.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "plan/packing/bounding_links.hpp"
#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

/// Links of one kind and bandwidth that bound a plan.
struct LimitGroup {
  topology::LinkKind kind = topology::LinkKind::kPci;
  bool is_port = false;
  bool is_amd = false;                  ///< true: kNvLink is xGMI
  topology::Bandwidth bandwidth = {};   ///< bandwidth of each link, per direction
  std::vector<std::string> names = {};  ///< "GPU0 - NVS0", "mlx5_0"
  std::vector<std::uint64_t> bus = {};  ///< addresses of the parts below the links; only for PCIe
  std::uint32_t per_mille = 0;  ///< share of all these links in the bound; 0: full, share unknown
};

/// Returns the limits of the ring of a node, largest share first; empty if unknown.
std::vector<LimitGroup> LimitGroupsOf(const PlanView& view, std::size_t node,
                                      plan::GraphId id = plan::GraphId::kRing);

/// Formats a group: "8 NICs of 50 GB/s, mlx5_0, mlx5_1 and 6 more (100 %)".
std::string ToText(const LimitGroup& group);
/// Returns "limited by: ..." without a newline.
std::string LimitedByText(const std::vector<LimitGroup>& groups);
nlohmann::ordered_json LimitsJson(const std::vector<LimitGroup>& groups);

}  // namespace ringlet::cli
