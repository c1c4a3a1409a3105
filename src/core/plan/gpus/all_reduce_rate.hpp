// How fast an all-reduce on a machine's GPUs would be: one number, to compare a machine with itself
// before and after a change.
#pragma once
#include <cstdint>

#include "plan/gpus/gpu_plan.hpp"
#include "ringlet/status.hpp"
#include "topology/graph/bandwidth.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::plan {

/// The bandwidth on the bus of each rank, as benchmarks count it, of an all-reduce of kRatedBytes
/// over all GPUs of `hosts` machines alike: what the model of times says of the plan.
/// \param view  of one host, or of several that are joined: then `hosts` is 1
/// Errors  kInvalidArgument  no GPUs; as PlanGpus
///         kUnsupported      as PlanGpus
/// Cost    that of PlanGpus
Result<topology::Bandwidth> AllReduceRate(const topology::HostView& view, std::uint32_t hosts,
                                          const GpuPlanOptions& options);

inline constexpr std::uint64_t kRatedBytes = std::uint64_t{1} << 30;

}  // namespace ringlet::plan
