// A machine that has lost links.
#pragma once
#include <cstdint>

#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Takes away the NVLinks of a GPU, and those of others to it.
/// \param gpu  its number as NVML counts
/// Errors  kInvalidArgument  no such GPU, or it has no NVLinks; names it
Status CutNvLinks(HostView& view, std::uint32_t gpu);

}  // namespace ringlet::topology
