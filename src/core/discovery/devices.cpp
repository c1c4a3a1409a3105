#include "discovery/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "discovery/nets.hpp"
#include "discovery/pci_view.hpp"

namespace ringlet::discovery {
namespace {

using topology::BusId;
using topology::Gpu;
using topology::GpuLink;
using topology::HostView;
using topology::NetInterface;
using topology::NetKind;
using topology::PartKind;
using topology::PciClass;
using topology::PciRole;

constexpr PciClass kNvSwitch{0x068000};

class Devices {
 public:
  Devices(Sysfs& sysfs, std::vector<PciFunction> functions, const std::optional<GpuReport>& report,
          HostView& view)
      : sysfs_(sysfs),
        report_(report),
        view_(view),
        functions_(std::move(functions)),
        pci_(sysfs, functions_, view) {}

  void Run(const os::NameRule& rule) {
    all_interfaces_ = ReadInterfaces(sysfs_);
    interfaces_ = Choose(all_interfaces_, rule, sysfs_);
    FindRdma();
    AddGpuFunctions();
    AddNicFunctions();
    pci_.Build();
    AddGpus();
    peer_memory_ = HasPeerMemory(sysfs_);
    for (const InterfaceFacts& facts : interfaces_) AddInterface(facts);
    for (const RdmaPort& port : ports_)
      if (!IsCovered(port, rule)) AddPort(port);
  }

 private:
  void FindRdma() {
    for (RdmaPort& port : ReadRdmaPorts(sysfs_)) {
      if (port.active) {
        ports_.push_back(std::move(port));
      } else {
        sysfs_.RecordMissing(fmt::format("port {} of RDMA device {} is not active and is left out",
                                         port.port, port.device));
      }
    }
  }

  void AddGpuFunctions() {
    std::set<BusId> reported;
    if (report_) {
      for (const GpuReading& gpu : report_->gpus)
        if (reported.insert(gpu.bus).second) pci_.AddWithBridges(gpu.bus);
    }
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const BusId bus = functions_[i].bus;
      if (!functions_[i].device_class || reported.count(bus) != 0 ||
          functions_[i].device_class->role() != PciRole::kGpu)
        continue;
      const PciFunction* const function = pci_.Detailed(bus);
      if (!IsGpu(*function) || function->physical) continue;
      if (report_ && function->ids.vendor == kNvidiaVendor) {
        sysfs_.RecordMissing(
            fmt::format("PCI function {} is a GPU that its driver does not list", ToString(bus)));
      } else {
        pci_.AddWithBridges(bus);
        unlisted_.push_back(bus);
      }
    }
  }

  void AddNicFunctions() {
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      if (!functions_[i].device_class || functions_[i].device_class->role() != PciRole::kNic)
        continue;
      pci_.AddWithBridges(CardOf(functions_[i].bus));
    }
    for (const InterfaceFacts& facts : interfaces_)
      if (const auto card = CardOf(facts)) pci_.AddWithBridges(*card);
    for (const RdmaPort& port : ports_)
      if (port.function) pci_.AddWithBridges(CardOf(*port.function));
  }

  /// Returns the function that represents a card. All functions of a card share one link.
  BusId CardOf(BusId bus) {
    const PciFunction* function = pci_.Detailed(bus);
    if (function != nullptr && function->physical) {
      bus = *function->physical;
      function = pci_.Detailed(bus);
    }
    const BusId first{bus.value & ~std::uint64_t{0xf}};
    const PciFunction* const sibling = Find(functions_, first);
    const bool same_kind = function != nullptr && sibling != nullptr &&
                           sibling->device_class == function->device_class;
    return same_kind ? first : bus;
  }

  /// Returns the card of an interface; for a bond, only if all members are on one card.
  std::optional<BusId> CardOf(const InterfaceFacts& facts) {
    if (facts.function) return CardOf(*facts.function);
    if (facts.kind != NetKind::kBond) return std::nullopt;
    std::optional<BusId> card;
    for (const InterfaceFacts& member : all_interfaces_) {
      if (member.master != facts.name || !member.function) continue;
      const BusId own = CardOf(*member.function);
      if (card && *card != own) return std::nullopt;
      card = own;
    }
    return card;
  }

  void AddGpus() {
    std::uint32_t number = 0;
    if (report_) {
      for (const GpuReading& facts : report_->gpus) {
        number = std::max(number, facts.index + 1);
        const auto at = pci_.IndexOf(facts.bus);
        if (at) AddGpu(facts, *at);
      }
    } else if (!unlisted_.empty()) {
      sysfs_.RecordMissing(
          "no driver lists the GPUs; those of /sys are numbered in the order of their addresses, "
          "and their NVLinks are unknown");
    }
    for (const BusId bus : unlisted_) {
      const auto at = pci_.IndexOf(bus);
      if (at) view_.gpus.push_back(Gpu{.pci = *at, .dev = number++, .gcn = {}});
    }
    // In tree order, as in a file.
    std::stable_sort(view_.gpus.begin(), view_.gpus.end(),
                     [](const Gpu& a, const Gpu& b) { return a.pci < b.pci; });
    if (view_.gpus.size() > HostView::kGpusMax) view_.gpus.resize(HostView::kGpusMax);
  }

  void AddGpu(const GpuReading& facts, std::uint32_t at) {
    topology::PciDevice& device = view_.pci[at];
    if (!device.device_class) device.device_class = PciClass{0x030000};
    if (device.ids.vendor == 0) device.ids = facts.ids;
    if (facts.pcie_generation != 0 && facts.pcie_generation != device.link_speed.generation)
      device.link_speed = topology::PcieSpeed::Of(facts.pcie_generation);
    if (facts.pcie_width != 0) device.link_width = facts.pcie_width;
    Gpu gpu{.pci = at, .dev = facts.index, .gcn = {}};
    gpu.compute_capability = facts.compute_capability;
    gpu.mlopart = MloPartOf(facts.name);
    gpu.links = facts.links;
    for (GpuLink& link : gpu.links) {
      link.target_class = kNvSwitch;  // also for an unknown target: in a VM, switches
      const PciFunction* const target = link.target ? Find(functions_, *link.target) : nullptr;
      if (target != nullptr && target->device_class) link.target_class = target->device_class;
    }
    gpu.c2c = facts.c2c;
    gpu.fabric = facts.fabric;
    view_.gpus.push_back(std::move(gpu));
  }

  std::optional<std::uint32_t> NicAt(std::optional<BusId> card) {
    const auto at = card ? pci_.IndexOf(*card) : std::nullopt;
    if (!at) return std::nullopt;
    const auto [nic, fresh] = nics_.emplace(*card, static_cast<std::uint32_t>(view_.nics.size()));
    if (fresh) view_.nics.push_back({.parent = {PartKind::kPci, *at}});
    return nic->second;
  }

  /// Returns the node of a card; otherwise the kernel's node of the device.
  std::optional<std::uint32_t> NodeAt(std::optional<BusId> card,
                                      std::optional<std::uint32_t> told) {
    const auto known = [&](std::optional<std::uint32_t> id) {
      return std::any_of(view_.numa_nodes.begin(), view_.numa_nodes.end(),
                         [&](const auto& node) { return node.id == id; });
    };
    if (const auto node = card ? pci_.NumaOf(*card) : std::nullopt) return node;
    return known(told) ? told : std::nullopt;
  }

  static bool RunsOver(const InterfaceFacts& facts, const RdmaPort& port) {
    if (!port.interface.empty()) return port.interface == facts.name;
    return facts.function && port.function == facts.function && port.port == facts.device_port + 1;
  }

  /// Returns true if a port without an entry needs none: its interface is part of a used bond, or
  /// the rule excludes the interface.
  bool IsCovered(const RdmaPort& port, const os::NameRule& rule) const {
    const auto own =
        std::find_if(all_interfaces_.begin(), all_interfaces_.end(),
                     [&](const InterfaceFacts& facts) { return RunsOver(facts, port); });
    if (own == all_interfaces_.end()) return false;
    return !rule.Allows(own->name) ||
           std::any_of(interfaces_.begin(), interfaces_.end(),
                       [&](const InterfaceFacts& used) { return used.name == own->master; });
  }

  void AddInterface(const InterfaceFacts& facts) {
    const std::optional<BusId> card = CardOf(facts);
    NetInterface net{.name = facts.name, .speed_mbit_per_s = facts.speed_mbit_per_s, .numa = {}};
    net.kind = facts.kind;
    net.members = facts.members;
    const auto port = std::find_if(ports_.begin(), ports_.end(),
                                   [&](const RdmaPort& each) { return RunsOver(facts, each); });
    if (port != ports_.end()) {
      Join(net, *port);
      ports_.erase(port);
    } else {
      net.gdr = false;
    }
    if (!net.speed_mbit_per_s)
      sysfs_.RecordMissing(
          fmt::format("/sys/class/net/{}/speed does not contain a rate", facts.name));
    Add(std::move(net), card, facts.numa);
  }

  void AddPort(const RdmaPort& port) {
    const bool only = port.port == 1;
    NetInterface net{.name = only ? port.device : fmt::format("{}:{}", port.device, port.port),
                     .speed_mbit_per_s = {},
                     .numa = {}};
    if (net.name.size() > HostView::kNameBytesMax) return;
    net.kind = NetKind::kPhysical;
    Join(net, port);
    if (!net.speed_mbit_per_s)
      sysfs_.RecordMissing(fmt::format("the rate of RDMA device {} is unknown", port.device));
    Add(std::move(net), port.function ? std::optional(CardOf(*port.function)) : std::nullopt,
        port.numa);
  }

  void Join(NetInterface& net, const RdmaPort& port) {
    if (!net.speed_mbit_per_s) net.speed_mbit_per_s = port.speed_mbit_per_s;
    net.rdma_device = port.device;
    net.guid = port.guid;
    net.port = port.port;
    if (peer_memory_) net.gdr = true;
    // Two devices of one card have the same guid, and each has a port 1: number on, as NCCL does.
    if (port.function) *net.port += earlier_[CardOf(*port.function)]++;
  }

  void Add(NetInterface net, std::optional<BusId> card, std::optional<std::uint32_t> told) {
    if (view_.nets.size() == HostView::kNetsMax) return;
    net.nic = NicAt(card);
    net.numa = NodeAt(card, told);
    net.dev = static_cast<std::uint32_t>(view_.nets.size());
    view_.nets.push_back(std::move(net));
  }

  Sysfs& sysfs_;
  const std::optional<GpuReport>& report_;
  HostView& view_;
  std::vector<PciFunction> functions_;
  PciView pci_;
  std::vector<InterfaceFacts> all_interfaces_, interfaces_;
  std::vector<RdmaPort> ports_;  // those without an interface so far
  std::vector<BusId> unlisted_;  // GPUs that no driver has reported
  std::map<BusId, std::uint32_t> nics_, earlier_;
  bool peer_memory_ = false;
};

}  // namespace

void AddDevices(Sysfs& sysfs, const os::NameRule& rule, std::vector<PciFunction> functions,
                const std::optional<GpuReport>& gpus, HostView& view) {
  Devices(sysfs, std::move(functions), gpus, view).Run(rule);
}

}  // namespace ringlet::discovery
