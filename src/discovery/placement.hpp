// On which NUMA node a rank lives.
#pragma once
#include <cstdint>

#include "os/file_tree.hpp"
#include "topology/host_view.hpp"

namespace ringlet::discovery {

/// The CPUs that the calling thread may run on, as /proc says.
/// Errors  kSystem       /proc does not tell
///         kUnsupported  it tells in an unknown form
Result<topology::CpuSet> AllowedCpus(const os::FileTree& files);

/// Id of the node that has most of `allowed`. Where several have equally many, as with ranks that
/// are bound to nothing, `local_rank` chooses among them in turn, so that the ranks of a host
/// spread. `host` has passed Check.
std::uint32_t NumaOf(const topology::HostView& host, const topology::CpuSet& allowed,
                     std::uint32_t local_rank);

}  // namespace ringlet::discovery
