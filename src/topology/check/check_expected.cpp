// The rules that compare a machine with one that it should be like: by its devices, not by their
// addresses, which differ from machine to machine, but where both have the same.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "topology/check/check_context.hpp"

namespace ringlet::topology {
namespace {

class Comparison {
 public:
  Comparison(CheckContext& context, const CheckContext& expected, std::string_view name)
      : context_(context), expected_(expected), name_(name) {
    for (const CheckedGpu& gpu : context.gpus()) addresses_.insert(context.At(gpu).bus);
    std::size_t common = 0;
    for (const CheckedGpu& gpu : expected.gpus()) {
      wanted_.insert(expected.At(gpu).bus);
      if (addresses_.contains(expected.At(gpu).bus)) ++common;
    }
    same_addresses_ = common * 2 > std::min(wanted_.size(), addresses_.size());
  }

  void Run() {
    Gpus();
    Links();
    Pcie();
    Ports();
    if (same_addresses_) Numa();
  }

 private:
  /// "; gone: 0000:5b:00.0" where the addresses of both tell.
  std::string GoneText() const {
    std::string text;
    for (const BusId bus : wanted_)
      if (same_addresses_ && !addresses_.contains(bus))
        text += fmt::format("{}{}", text.empty() ? "; not here: " : ", ", ToString(bus));
    return text;
  }

  void Gpus() {
    const std::size_t wanted = expected_.gpus().size(), have = context_.gpus().size();
    if (have < wanted && !context_.Has("gpu-missing"))
      context_.Add(
          "gpu-missing", {}, fmt::format("{} GPUs", have),
          fmt::format("{} of the {} GPUs of {} are here{}", have, wanted, name_, GoneText()),
          "drain the machine; lspci -d 10de: shows whether the GPU is on the bus, and "
          "dmesg why not (Xid 79)",
          MissingGpus(wanted - have));
    if (have == 0 || wanted == 0) return;
    const PciIds& model = expected_.At(expected_.gpus().front()).ids;
    if (model.vendor == 0) return;
    for (const CheckedGpu& gpu : context_.gpus()) {
      const PciIds& ids = context_.At(gpu).ids;
      if (ids.vendor == 0 || (ids.vendor == model.vendor && ids.device == model.device)) continue;
      context_.Add("gpu-other-model", {PartKind::kPci, gpu.pci}, context_.NameOf(gpu),
                   fmt::format("device {:04x}:{:04x}; {} has {:04x}:{:04x}", ids.vendor, ids.device,
                               name_, model.vendor, model.device),
                   "see that the machine is of the kind it should be like", {});
    }
  }

  std::vector<Change> MissingGpus(std::size_t count) const {
    std::vector<Change> repair;
    if (context_.gpus().empty() || !context_.gpus().front().gpu) return repair;
    const CheckedGpu& like = context_.gpus().front();
    for (std::size_t i = 0; i < count; ++i)
      repair.emplace_back(GpuAdded{*like.gpu, context_.At(like).parent});
    return repair;
  }

  void Links() {
    std::uint32_t most = 0;
    for (const CheckedGpu& gpu : expected_.gpus())
      if (gpu.gpu) most = std::max(most, LinkCount(expected_.view().gpus[*gpu.gpu]));
    std::uint32_t least = most;
    for (const CheckedGpu& gpu : expected_.gpus())
      if (gpu.gpu) least = std::min(least, LinkCount(expected_.view().gpus[*gpu.gpu]));
    if (least == 0) return;
    for (const CheckedGpu& gpu : context_.gpus()) {
      if (!gpu.gpu) continue;
      const Gpu& one = context_.view().gpus[*gpu.gpu];
      const std::uint32_t count = LinkCount(one);
      if (count >= least) continue;
      std::vector<GpuLink> links = one.links;
      if (links.empty())
        links = {{.count = least, .target_class = PciClass{0x068000}}};
      else
        links.front().count += least - count;
      context_.Add(count == 0 ? "nvlinks-none" : "nvlinks-fewer", {PartKind::kGpu, *gpu.gpu},
                   context_.NameOf(gpu),
                   fmt::format("{} links; the GPUs of {} have {}", count, name_, least),
                   "drain the machine; nvidia-smi nvlink -s and dmesg (Xid 74, SXid) say which "
                   "links are down",
                   {LinksChange{*gpu.gpu, std::move(links)}});
    }
  }

  /// All GPUs slower than they should be, which no comparison with peers shows.
  void Pcie() {
    PciDevice norm;
    for (const CheckedGpu& gpu : expected_.gpus()) {
      const PciDevice& device = expected_.At(gpu);
      const bool is_slower = LinkOf(norm).mb_per_s == 0 || LinkOf(device) < LinkOf(norm);
      if (LinkOf(device).mb_per_s != 0 && is_slower) norm = device;
    }
    if (LinkOf(norm).mb_per_s == 0) return;
    for (const CheckedGpu& gpu : context_.gpus()) {
      const Bandwidth have = LinkOf(context_.At(gpu));
      if (have.mb_per_s == 0 || have >= LinkOf(norm)) continue;
      context_.Add(gpu.board != nullptr ? "gpu-pcie" : "card-pcie", {PartKind::kPci, gpu.pci},
                   context_.NameOf(gpu),
                   fmt::format("{}, {}; the GPUs of {} have {}, {}", LinkText(context_.At(gpu)),
                               RateText(have), name_, LinkText(norm), RateText(LinkOf(norm))),
                   "drain the machine and reset it; see what the firmware limits the slots to",
                   {PcieChange{gpu.pci, norm.link_speed, norm.link_width}});
    }
  }

  /// Rates of ports beside GPUs, the fastest first.
  static std::vector<std::pair<std::uint32_t, std::uint32_t>> RatesOf(const CheckContext& context) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> rates;
    for (const CheckedNic& nic : context.nics())
      for (const std::uint32_t net : nic.nets)
        if (nic.beside_gpu && context.view().nets[net].speed_mbit_per_s)
          rates.emplace_back(*context.view().nets[net].speed_mbit_per_s, net);
    std::stable_sort(rates.begin(), rates.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    return rates;
  }

  void Ports() {
    const auto wanted = RatesOf(expected_), have = RatesOf(context_);
    for (std::size_t i = 0; i < std::min(wanted.size(), have.size()); ++i) {
      if (have[i].first >= wanted[i].first) continue;
      const std::uint32_t net = have[i].second;
      context_.Add("nic-rate", {PartKind::kNet, net}, context_.NameOfPort(net),
                   fmt::format("{}; a port of {} has {}", GigabitText(have[i].first), name_,
                               GigabitText(wanted[i].first)),
                   "ibstat or ethtool shows the port's state; clean or replace cable and "
                   "transceiver, and see what the switch's port is set to",
                   {RateChange{net, wanted[i].first}});
    }
    // Of a skeleton no port is known, and a NIC may be beside a GPU that is missing.
    const bool is_skeleton = context_.view().nets.empty() && !context_.nics().empty();
    const bool lacks_gpus = context_.gpus().size() < expected_.gpus().size();
    if (have.size() >= wanted.size() || is_skeleton || lacks_gpus || context_.Has("nic-missing"))
      return;
    context_.Add("nic-missing", {}, fmt::format("{} ports", have.size()),
                 fmt::format("{} of the {} ports that {} has beside its GPUs are here", have.size(),
                             wanted.size(), name_),
                 "lspci shows whether the NIC is on the bus; if it is, see its driver and whether "
                 "its port is up; NCCL leaves out ports that are down",
                 {});
  }

  void Numa() {
    std::map<BusId, std::uint32_t> numas;
    for (const CheckedGpu& gpu : expected_.gpus())
      numas.emplace(expected_.At(gpu).bus, expected_.NumaOf(gpu.pci));
    for (const CheckedNic& nic : expected_.nics())
      numas.emplace(expected_.At(nic).bus, expected_.NumaOf(nic.pci));
    const auto say = [&](std::string_view rule, std::uint32_t pci, const std::string& name) {
      const auto wanted = numas.find(context_.view().pci[pci].bus);
      if (wanted == numas.end() || wanted->second == context_.NumaOf(pci)) return;
      context_.Add(rule, {PartKind::kPci, pci}, name,
                   fmt::format("it is at NUMA node {}; in {} it is at {}",
                               NumaText(context_.NumaOf(pci)), name_, NumaText(wanted->second)),
                   "cat /sys/bus/pci/devices/ADDRESS/numa_node says where it is: mend the file, or "
                   "the firmware's setting for NUMA nodes",
                   {});
    };
    for (const CheckedGpu& gpu : context_.gpus()) say("gpu-numa", gpu.pci, context_.NameOf(gpu));
    for (const CheckedNic& nic : context_.nics()) say("nic-numa", nic.pci, context_.NameOf(nic));
  }

  static std::string NumaText(std::uint32_t numa) {
    return numa == kUnknownNuma ? "none" : fmt::format("{}", numa);
  }

  CheckContext& context_;
  const CheckContext& expected_;
  std::string_view name_;
  std::set<BusId> addresses_, wanted_;
  bool same_addresses_ = false;
};

}  // namespace

void CheckExpected(CheckContext& context, const HostView& expected,
                   std::string_view expected_name) {
  const Positions none;
  const CheckContext other(expected, none);
  Comparison(context, other, expected_name).Run();
}

}  // namespace ringlet::topology
