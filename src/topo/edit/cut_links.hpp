// Removes links from a machine.
#pragma once
#include <cstdint>

#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Removes a GPU's NVLinks, and those of other GPUs to it.
/// \param gpu  NVML's number
/// Errors  kInvalidArgument  the GPU does not exist, or has no NVLinks; the message names it
Status CutNvLinks(HostView& view, std::uint32_t gpu);

}  // namespace ringlet::topology
