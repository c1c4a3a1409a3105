#include "topo/lint/element_count.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "topo/edit/complete.hpp"

namespace ringlet::topology {
namespace {

std::size_t CountOfRole(const HostView& view, PciRole role) {
  return static_cast<std::size_t>(
      std::count_if(view.pci.begin(), view.pci.end(), [&](const PciDevice& device) {
        return device.device_class && device.device_class->role() == role;
      }));
}

/// Counts a `gpu` and its children.
std::size_t ElementsOf(const Gpu& gpu) {
  return 1 + gpu.links.size() + gpu.c2c.size();
}

}  // namespace

std::size_t CountElements(const HostView& view) {
  std::size_t count =
      1 + view.numa_nodes.size() + view.pci.size() + view.nics.size() + view.nets.size();
  for (const PciDevice& device : view.pci) count += device.peers.size();
  for (const Gpu& gpu : view.gpus) count += ElementsOf(gpu);
  return count;
}

std::uint32_t CountGpus(const HostView& view) {
  return static_cast<std::uint32_t>(view.gpus.empty() ? CountOfRole(view, PciRole::kGpu)
                                                      : view.gpus.size());
}

FusedCount PredictFused(const HostView& view, std::uint32_t ranks) {
  const std::uint32_t gpus = CountGpus(view);
  if (ranks == 0) ranks = gpus;
  std::size_t shared = CountElements(view);
  for (const Gpu& gpu : view.gpus) shared -= ElementsOf(gpu);
  if (IsSkeleton(view)) shared += 2 * CountOfRole(view, PciRole::kNic);  // a nic with a net
  FusedCount count{.elements = shared, .at_worst = 1};
  // A rank's own file excludes functions of others' GPUs.
  const std::size_t others = gpus == 0 ? 0 : gpus - 1;
  for (std::uint32_t rank = 0; rank < ranks && gpus > 0; ++rank) {
    const std::size_t own = view.gpus.empty() ? 1 : ElementsOf(view.gpus[rank % gpus]);
    count.elements += own;
    count.at_worst += shared - 1 - std::min(others, shared - 1) + own;
  }
  return count;
}

}  // namespace ringlet::topology
