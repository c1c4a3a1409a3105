#include "plan/gpus/all_reduce_rate.hpp"

#include <fmt/format.h>

#include <vector>

#include "topology/view/host_shape.hpp"

namespace ringlet::plan {

Result<topology::Bandwidth> AllReduceRate(const topology::HostView& view, std::uint32_t hosts,
                                          const GpuPlanOptions& options) {
  if (view.gpus.empty()) return Error{Code::kInvalidArgument, "the machine lacks GPUs to plan for"};
  const topology::HostView shape = topology::ShapeOf(view);
  std::vector<topology::HostView> views;
  std::uint32_t ranks = 0;
  for (std::uint32_t host = 0; host < hosts; ++host) {
    views.push_back(topology::HostOfShape(shape, fmt::format("host{}", host), host + 1));
    for (topology::Gpu& gpu : views.back().gpus) gpu.rank = ranks++;
  }
  RINGLET_TRY_ASSIGN(const GpuPlan planned, PlanGpus(views, options));
  if (ranks == 1) return topology::Bandwidth{};
  RINGLET_TRY_ASSIGN(const TuningPick pick, planned.tuning.Pick(Function::kAllReduce, kRatedBytes));
  // Counts as a ring: each rank passes on 2 (n - 1) / n of the bytes.
  const double seconds = static_cast<double>(pick.time_ns) / 1e9;
  const double bytes = static_cast<double>(kRatedBytes) * 2.0 * (ranks - 1) / ranks;
  return topology::Bandwidth{static_cast<std::uint32_t>(bytes / seconds / 1e6)};
}

}  // namespace ringlet::plan
