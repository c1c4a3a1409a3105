// `ringlet plan --ranks N`: the plan of ranks in CPU memory, as communicators make it.
#pragma once
#include <string>

#include "plan/channels/channel_plan.hpp"
#include "tool/plan/plan_view.hpp"

namespace ringlet::cli {

inline constexpr std::uint32_t kPlannedMemoryRanksMax = 1'000'000;  // of all hosts together

struct MemoryPlan {
  std::string title;
  std::uint32_t hosts = 1;
  plan::ChannelPlan plan;
  std::chrono::nanoseconds time{0};
};

/// \param ranks  of each host, dealt out to its NUMA nodes in blocks; 0: one a processor
/// Errors  kInvalidArgument, kSystem  as LoadTopology; kUnsupported  too many ranks
Result<MemoryPlan> PlanMemory(const PlanRequest& request, std::uint32_t ranks,
                              const EnvMap& environment);

std::string MemoryPlanText(const MemoryPlan& planned);
std::string MemoryPlanJson(const MemoryPlan& planned);

}  // namespace ringlet::cli
