// Estimates the bandwidth of an all-reduce on a machine's GPUs. Serves to compare a machine before
// and after a change.
#pragma once
#include <cstdint>

#include "plan/gpus/gpu_plan.hpp"
#include "ringlet/status.hpp"
#include "topology/graph/bandwidth.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::plan {

/// The bus bandwidth per rank, as benchmarks count it, of an all-reduce of kRatedBytes over all
/// GPUs of `hosts` equal machines, according to the time model.
/// \param view  one host, or several joined hosts; `hosts` is then 1
/// Errors  kInvalidArgument  no GPUs; as PlanGpus
///         kUnsupported      as PlanGpus
/// Cost    as PlanGpus
Result<topology::Bandwidth> AllReduceRate(const topology::HostView& view, std::uint32_t hosts,
                                          const GpuPlanOptions& options);

inline constexpr std::uint64_t kRatedBytes = std::uint64_t{1} << 30;

}  // namespace ringlet::plan
