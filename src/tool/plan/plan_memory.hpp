// `ringlet plan --ranks N`: plans ranks in CPU memory as communicators do.
#pragma once
#include <string>

#include "plan/channels/channel_plan.hpp"
#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

inline constexpr std::uint32_t kPlannedMemoryRanksMax = 1'000'000;  // total of all hosts

struct MemoryPlan {
  std::string title;
  std::uint32_t hosts = 1;
  plan::ChannelPlan plan;
  std::chrono::nanoseconds time{0};
};

/// \param ranks  per host, distributed to its NUMA nodes in blocks; 0: one per processor
/// Errors  kInvalidArgument, kSystem  as LoadTopology; kUnsupported  too many ranks
Result<MemoryPlan> PlanMemory(const PlanRequest& request, std::uint32_t ranks,
                              const EnvMap& environment);

std::string MemoryPlanText(const MemoryPlan& planned);
std::string MemoryPlanJson(const MemoryPlan& planned);

}  // namespace ringlet::cli
