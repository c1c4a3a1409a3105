// The links that bound a plan, by name, and what one change of the machine would give.
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
  bool is_amd = false;                  ///< kNvLink is xGMI
  topology::Bandwidth bandwidth = {};   ///< of each, each way
  std::vector<std::string> names = {};  ///< "GPU0 - NVS0", "mlx5_0"
  std::vector<std::uint64_t> bus = {};  ///< of the part whose PCIe link it is; only of PCIe
  std::uint32_t per_mille = 0;  ///< of the bound, of all together; 0: full, no more is known
};

/// Groups of the ring of a node, those that stand for most first; empty: not known.
std::vector<LimitGroup> LimitGroupsOf(const PlanView& view, std::size_t node,
                                      plan::GraphId id = plan::GraphId::kRing);

/// "8 NICs of 50 GB/s, mlx5_0, mlx5_1 and 6 more (100 %)".
std::string ToText(const LimitGroup& group);
/// "limited by: ..." without a newline.
std::string LimitedByText(const std::vector<LimitGroup>& groups);
nlohmann::ordered_json LimitsJson(const std::vector<LimitGroup>& groups);

}  // namespace ringlet::cli
