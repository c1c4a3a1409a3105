#include "topo/edit/cut_links.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ringlet::topology {

Status CutNvLinks(HostView& view, std::uint32_t gpu) {
  const auto its = std::ranges::find(view.gpus, std::optional(gpu), &Gpu::dev);
  if (its == view.gpus.end())
    return Error{Code::kInvalidArgument,
                 fmt::format("GPU {} does not exist among {}", gpu, view.gpus.size())};
  if (its->links.empty())
    return Error{Code::kInvalidArgument, fmt::format("GPU {} does not have NVLinks to lose", gpu)};
  its->links.clear();
  const BusId bus = view.pci[its->pci].bus;
  for (Gpu& other : view.gpus)
    std::erase_if(other.links, [&](const GpuLink& link) { return link.target == bus; });
  return Ok();
}

}  // namespace ringlet::topology
