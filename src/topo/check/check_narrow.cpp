// The rule that no PCIe link is far narrower than the devices below it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "topo/check/check_context.hpp"

namespace ringlet::topology {
namespace {

/// Two fifths, because hosts often save a generation, or half the lanes, but not more.
constexpr std::uint64_t kFarNarrower = 5, kOfWider = 2;

bool IsFarNarrower(Bandwidth link, Bandwidth below) {
  return std::uint64_t{link.mb_per_s} * kFarNarrower < std::uint64_t{below.mb_per_s} * kOfWider;
}

/// For each function, the widest single device at or below it, by its own link or by its ports.
struct Widest {
  Bandwidth rate;
  std::uint32_t pci = 0;  ///< that device
};

class NarrowLinks {
 public:
  explicit NarrowLinks(CheckContext& context)
      : context_(context), view_(context.view()), widest_(view_.pci.size()) {}

  void Run() {
    std::vector<Bandwidth> ports(view_.pci.size());
    for (const CheckedNic& nic : context_.nics())
      for (const std::uint32_t net : nic.nets)
        if (const auto rate = context_.RateOf(net))
          ports[nic.pci].mb_per_s += NetworkInterface(rate).mb_per_s;
    for (const CheckedNic& nic : context_.nics()) Device(nic.pci, ports[nic.pci]);
    for (const CheckedGpu& gpu : context_.gpus()) Device(gpu.pci, {});
    // Children follow their parents.
    for (std::uint32_t i = Count(); i-- > 0;) {
      const Part parent = view_.pci[i].parent;
      if (parent.kind == PartKind::kPci && widest_[parent.index].rate < widest_[i].rate)
        widest_[parent.index] = widest_[i];
    }
    for (std::uint32_t i = 0; i < Count(); ++i) CheckSwitch(i);
  }

 private:
  std::uint32_t Count() const { return static_cast<std::uint32_t>(view_.pci.size()); }

  void Device(std::uint32_t pci, Bandwidth ports) {
    const Bandwidth own = LinkOf(view_.pci[pci]);
    if (own.mb_per_s != 0 && IsFarNarrower(own, ports))
      Report(pci, own, ports, "its ports", WidthFor(ports));
    // A NIC's link needs at most the rate of its ports.
    const bool by_ports = ports.mb_per_s != 0 && (own.mb_per_s == 0 || ports < own);
    widest_[pci] = {by_ports ? ports : own, pci};
  }

  void CheckSwitch(std::uint32_t pci) {
    if (widest_[pci].pci == pci || widest_[pci].rate.mb_per_s == 0) return;
    const Bandwidth own = LinkOf(view_.pci[pci]);
    if (own.mb_per_s == 0 || !IsFarNarrower(own, widest_[pci].rate)) return;
    const PciDevice& below = view_.pci[widest_[pci].pci];
    Report(pci, own, widest_[pci].rate, context_.NameOfFunction(widest_[pci].pci) + " below it",
           PcieChange{pci, below.link_speed, below.link_width});
  }

  /// Returns the slowest generation that carries `rate` over 16 lanes.
  static PcieChange WidthFor(Bandwidth rate) {
    constexpr std::uint8_t kLast = 6;
    constexpr std::uint16_t kLanes = 16;
    std::uint8_t generation = 1;
    while (generation < kLast && PcieLink(PcieSpeed::Of(generation), kLanes) < rate) ++generation;
    return {0, PcieSpeed::Of(generation), kLanes};
  }

  void Report(std::uint32_t pci, Bandwidth own, Bandwidth below, const std::string& what,
              PcieChange repair) {
    repair.pci = pci;
    const PciDevice& device = view_.pci[pci];
    context_.Add(kNarrowRule, {PartKind::kPci, pci}, context_.NameOfFunction(pci),
                 fmt::format("{}, {}, is far narrower than {}, {}", LinkText(device), RateText(own),
                             what, RateText(below)),
                 "compare with lspci -vv -s on the machine; virtual bridges of a hypervisor or a "
                 "switch may report too low a rate: then write the real link in the topology file",
                 {repair});
  }

  CheckContext& context_;
  const HostView& view_;
  std::vector<Widest> widest_;
};

}  // namespace

void CheckNarrowLinks(CheckContext& context) {
  NarrowLinks(context).Run();
}

}  // namespace ringlet::topology
