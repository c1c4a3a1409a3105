// On which NUMA node a rank lives.
#pragma once
#include <cstdint>
#include <optional>

#include "os/fs/file_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// The CPUs that the calling thread may run on, as /proc says.
/// Errors  kSystem       /proc does not tell
///         kUnsupported  it tells in an unknown form
Result<topology::CpuSet> AllowedCpus(const os::FileTree& files);

/// Id of the node that has most of `allowed`. If several have equally many, as with ranks that are
/// bound to nothing, `local_rank` chooses among them in turn, so that the ranks of a host spread.
/// `host` has passed Check.
std::uint32_t NumaOf(const topology::HostView& host, const topology::CpuSet& allowed,
                     std::uint32_t local_rank);

/// Index of the GPU that NVML numbers `number`.
std::optional<std::uint32_t> FindGpu(const topology::HostView& host, std::uint32_t number);

/// Id of the node of host.gpus[gpu]; empty where it is unknown, or has none of `allowed` while that
/// is not empty.
std::optional<std::uint32_t> NumaOfGpu(const topology::HostView& host, std::uint32_t gpu,
                                       const topology::CpuSet& allowed);

/// The CPUs of a node that are `allowed`, or all of them where that is empty. Empty where a thread
/// need not be placed (there is no other node) or cannot be.
topology::CpuSet CpusNear(const topology::HostView& host, std::uint32_t numa,
                          const topology::CpuSet& allowed);

}  // namespace ringlet::discovery
