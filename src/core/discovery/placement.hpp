// Determines the NUMA node of a rank.
#pragma once
#include <cstdint>
#include <optional>

#include "os/fs/file_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// Returns the CPUs that the calling thread may use, from /proc.
/// Errors  kSystem       /proc does not contain them
///         kUnsupported  /proc has them in an unknown form
Result<topology::CpuSet> AllowedCpus(const os::FileTree& files);

/// Returns the id of the node with most CPUs of `allowed`. Among several such nodes, as for unbound
/// ranks, `local_rank` selects one in turn, to spread ranks. \pre  `host` has passed Check
std::uint32_t NumaOf(const topology::HostView& host, const topology::CpuSet& allowed,
                     std::uint32_t local_rank);

/// Returns the index of the GPU with NVML's number `number`.
std::optional<std::uint32_t> FindGpu(const topology::HostView& host, std::uint32_t number);

/// Returns the id of the node of host.gpus[gpu]; empty if unknown, or outside a non-empty
/// `allowed`.
std::optional<std::uint32_t> NumaOfGpu(const topology::HostView& host, std::uint32_t gpu,
                                       const topology::CpuSet& allowed);

/// Returns the CPUs of a node that are in `allowed`; all CPUs of the node if `allowed` is empty.
/// Empty if placing a thread is unnecessary (only one node) or impossible.
topology::CpuSet CpusNear(const topology::HostView& host, std::uint32_t numa,
                          const topology::CpuSet& allowed);

}  // namespace ringlet::discovery
