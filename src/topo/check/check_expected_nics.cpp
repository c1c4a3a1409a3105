// Rules that compare the NICs and switches of a machine with those of the expected machine.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "topo/check/check_context.hpp"
#include "topo/edit/complete.hpp"

namespace ringlet::topology {
namespace {

constexpr std::string_view kMissingCure =
    "lspci shows whether the NIC is on the bus; if it is, check its driver and its port; NCCL "
    "ignores ports that are down";

/// Ports of one model of NIC, all beside GPUs or all apart from them.
struct PortKind {
  bool beside_gpu = false;
  std::uint32_t model = 0;  ///< vendor and device
  auto operator<=>(const PortKind&) const = default;
};

/// Rates and ports by kind, the fastest first.
using PortRates = std::map<PortKind, std::vector<std::pair<std::uint32_t, std::uint32_t>>>;

struct PortCounts {
  std::size_t beside_gpus = 0;
  std::size_t all = 0;
};

class NicComparison {
 public:
  NicComparison(CheckContext& context, const CheckContext& expected, std::string_view name)
      : context_(context),
        expected_(expected),
        name_(name),
        same_addresses_(HaveSameAddresses(context, expected)) {}

  void Run() {
    Rates();
    Missing();
    Pcie();
    Gdr();
    if (same_addresses_) Switches();
  }

 private:
  static PortKind KindOf(const CheckContext& context, const CheckedNic& nic) {
    const PciIds& ids = context.At(nic).ids;
    return {nic.beside_gpu, std::uint32_t{ids.vendor} << 16 | ids.device};
  }

  static PortRates RatesOf(const CheckContext& context) {
    PortRates rates;
    for (const CheckedNic& nic : context.nics())
      for (const std::uint32_t net : nic.nets)
        if (const auto rate = context.RateOf(net))
          rates[KindOf(context, nic)].emplace_back(*rate, net);
    for (auto& [kind, list] : rates)
      std::ranges::stable_sort(list,
                               [](const auto& a, const auto& b) { return a.first > b.first; });
    return rates;
  }

  void Rates() {
    const PortRates wanted = RatesOf(expected_);
    for (const auto& [kind, have] : RatesOf(context_)) {
      const auto known = wanted.find(kind);
      for (std::size_t i = 0; known != wanted.end() && i < have.size(); ++i) {
        if (i >= known->second.size() || have[i].first >= known->second[i].first) continue;
        const std::uint32_t net = have[i].second, rate = known->second[i].first;
        context_.Add("nic-rate", {PartKind::kNet, net}, context_.NameOfPort(net),
                     fmt::format("{}; a port of {} has {}", GigabitText(have[i].first), name_,
                                 GigabitText(rate)),
                     "ibstat or ethtool shows the state of the port; clean or replace cable and "
                     "transceiver, and check the setting of the switch port",
                     {RateChange{net, rate}});
      }
    }
  }

  /// Counts ports without a PCI function by name, because a fused file repeats them at each node.
  static PortCounts CountsOf(const CheckContext& context) {
    PortCounts counts;
    std::set<std::string_view> names;
    for (const NetInterface& net : context.view().nets)
      if (net.nic && context.view().nics[*net.nic].parent.kind == PartKind::kNuma)
        names.insert(net.name);
    counts.all = names.size();
    for (const CheckedNic& nic : context.nics()) {
      counts.all += nic.nets.size();
      if (nic.beside_gpu) counts.beside_gpus += nic.nets.size();
    }
    return counts;
  }

  void Missing() {
    const HostView& view = context_.view();
    if (view.nets.empty() && IsSkeleton(view)) return MissingFunctions();
    if (context_.Has("nic-missing")) return;
    const PortCounts wanted = CountsOf(expected_), have = CountsOf(context_);
    const bool fewer_gpus = context_.gpus().size() < expected_.gpus().size();
    if (have.all < wanted.all)
      return Report(
          have.all, "ports",
          fmt::format("{} of the {} ports of {} are present", have.all, wanted.all, name_));
    // A port may be beside a missing GPU.
    if (have.beside_gpus < wanted.beside_gpus && !fewer_gpus)
      Report(have.beside_gpus, "ports",
             fmt::format("{} of the {} ports that {} has besides its GPUs are present",
                         have.beside_gpus, wanted.beside_gpus, name_));
  }

  /// A skeleton does not describe ports, and may not describe NICs.
  void MissingFunctions() {
    const std::size_t wanted = expected_.nics().size(), have = context_.nics().size();
    if (have == 0 || have >= wanted) return;
    Report(have, "NICs", fmt::format("{} of the {} NICs of {} are present", have, wanted, name_));
  }

  void Report(std::size_t have, std::string_view what, std::string reason) {
    std::set<BusId> here;
    for (const CheckedNic& nic : context_.nics()) here.insert(context_.At(nic).bus);
    std::string gone;
    for (const CheckedNic& nic : expected_.nics()) {
      const BusId bus = expected_.At(nic).bus;
      if (same_addresses_ && !here.contains(bus))
        gone += fmt::format("{}{}", gone.empty() ? "; missing: " : ", ", ToString(bus));
    }
    context_.Add("nic-missing", {}, fmt::format("{} {}", have, what), reason + gone,
                 std::string(kMissingCure), {});
  }

  /// Finds kinds of NICs that are all too slow by PCIe.
  void Pcie() {
    std::map<PortKind, PciDevice> norms;
    for (const CheckedNic& nic : expected_.nics()) {
      const PciDevice& device = expected_.At(nic);
      if (LinkOf(device).mb_per_s == 0) continue;
      PciDevice& norm = norms.try_emplace(KindOf(expected_, nic), device).first->second;
      if (LinkOf(device) < LinkOf(norm)) norm = device;
    }
    for (const CheckedNic& nic : context_.nics()) {
      const auto norm = norms.find(KindOf(context_, nic));
      if (norm != norms.end()) Compare(nic.pci, norm->second, "nic-pcie", "a NIC");
    }
  }

  void Switches() {
    std::map<BusId, const PciDevice*> wanted;
    for (const CheckedGpu& gpu : expected_.gpus())
      if (const std::uint32_t root = expected_.RootOf(gpu.pci); root != gpu.pci)
        wanted.emplace(expected_.view().pci[root].bus, &expected_.view().pci[root]);
    for (std::uint32_t i = 0; i < context_.view().pci.size(); ++i) {
      const auto other = wanted.find(context_.view().pci[i].bus);
      if (context_.RootOf(i) == i && other != wanted.end())
        Compare(i, *other->second, "switch-pcie", "the switch");
    }
  }

  void Compare(std::uint32_t pci, const PciDevice& norm, std::string_view rule,
               std::string_view what) {
    const PciDevice& device = context_.view().pci[pci];
    const Bandwidth have = LinkOf(device), wanted = LinkOf(norm);
    if (have.mb_per_s == 0 || have >= wanted) return;
    context_.Add(rule, {PartKind::kPci, pci}, context_.NameOfFunction(pci),
                 fmt::format("{}, {}; {} of {} has {}, {}", LinkText(device), RateText(have), what,
                             name_, LinkText(norm), RateText(wanted)),
                 "reseat the card; check the limit that the firmware sets for the slot",
                 {PcieChange{pci, norm.link_speed, norm.link_width}});
  }

  void Gdr() {
    const auto is_without = [](const NetInterface& net) { return net.gdr != true; };
    const HostView& view = context_.view();
    if (std::ranges::any_of(expected_.view().nets, is_without)) return;
    std::set<PortKind> kinds;
    for (const CheckedNic& nic : expected_.nics()) kinds.insert(KindOf(expected_, nic));
    for (const CheckedNic& nic : context_.nics()) {
      if (!kinds.contains(KindOf(context_, nic))) continue;
      for (const std::uint32_t net : nic.nets)
        if (view.nets[net].gdr == false)
          context_.Add("nic-gdr", {PartKind::kNet, net}, context_.NameOfPort(net),
                       fmt::format("no GPUDirect RDMA; the ports of {} have it", name_),
                       "check that the driver of the NIC and nvidia-peermem are loaded",
                       {GdrChange{{PartKind::kNet, net}}});
    }
  }

  CheckContext& context_;
  const CheckContext& expected_;
  std::string_view name_;
  const bool same_addresses_;
};

}  // namespace

void CheckExpectedNics(CheckContext& context, const CheckContext& expected, std::string_view name) {
  NicComparison(context, expected, name).Run();
}

}  // namespace ringlet::topology
