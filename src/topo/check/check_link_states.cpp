// The rule that PCIe links run at the limit of their ends.
#include <fmt/format.h>

#include <algorithm>

#include "topo/check/check_context.hpp"

namespace ringlet::topology {
namespace {

PciDevice WithLink(PciDevice device, const PcieSpeed& speed, std::uint16_t width) {
  device.link_speed = speed;
  device.link_width = width;
  return device;
}

void CheckState(CheckContext& context, std::uint32_t pci, const LinkState& state) {
  const Part part{PartKind::kPci, pci};
  for (const std::string_view known : {"gpu-pcie", "card-pcie", "nic-pcie"})
    if (context.Has(known, part)) return;
  const bool narrower = state.width != 0 && state.width < state.best_width;
  const bool slower =
      state.speed.generation != 0 && state.speed.generation < state.best_speed.generation;
  if (!narrower && !slower) return;
  const PciDevice& device = context.view().pci[pci];
  const bool is_gpu =
      std::ranges::any_of(context.gpus(), [&](const CheckedGpu& gpu) { return gpu.pci == pci; });
  const bool at_rest = is_gpu && !narrower;
  context.Add(at_rest ? "link-at-rest" : "link-reduced", part, context.NameOfFunction(pci),
              fmt::format("runs at {}; both ends support {}",
                          LinkText(WithLink(device, state.speed, state.width)),
                          LinkText(WithLink(device, state.best_speed, state.best_width))),
              at_rest ? "check again while the GPU is busy: an idle GPU slows its link down"
                      : "reset the machine; if the link stays slow, reseat or replace the card, "
                        "its riser or its cable",
              {});
}

}  // namespace

void CheckLinkStates(CheckContext& context, std::span<const LinkState> states) {
  const HostView& view = context.view();
  for (const LinkState& state : states)
    for (std::uint32_t i = 0; i < view.pci.size(); ++i)
      if (view.pci[i].bus == state.bus) CheckState(context, i, state);
}

}  // namespace ringlet::topology
