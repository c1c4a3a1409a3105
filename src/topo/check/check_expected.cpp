// Rules that compare the GPUs of a machine with those of the expected machine. They ignore
// addresses, which differ between machines, unless both machines have the same.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "topo/check/check_context.hpp"

namespace ringlet::topology {
namespace {

class Comparison {
 public:
  Comparison(CheckContext& context, const CheckContext& expected, std::string_view name)
      : context_(context), expected_(expected), name_(name) {
    for (const CheckedGpu& gpu : context.gpus()) addresses_.insert(context.At(gpu).bus);
    for (const CheckedGpu& gpu : expected.gpus()) wanted_.insert(expected.At(gpu).bus);
    same_addresses_ = HaveSameAddresses(context, expected);
  }

  void Run() {
    Gpus();
    Links();
    C2c();
    Pcie();
    Gdr();
    CheckExpectedNics(context_, expected_, name_);
    CheckExpectedPlaces(context_, expected_, name_);
  }

 private:
  /// Returns "; gone: 0000:5b:00.0" if the addresses identify the missing GPUs.
  std::string MissingDevicesText() const {
    std::string text;
    for (const BusId bus : wanted_)
      if (same_addresses_ && !addresses_.contains(bus))
        text += fmt::format("{}{}", text.empty() ? "; missing: " : ", ", ToString(bus));
    return text;
  }

  void Gpus() {
    const std::size_t wanted = expected_.gpus().size(), have = context_.gpus().size();
    if (have < wanted && !context_.Has("gpu-missing"))
      context_.Add(
          "gpu-missing", {}, fmt::format("{} GPUs", have),
          fmt::format("{} of the {} GPUs of {} are present{}", have, wanted, name_,
                      MissingDevicesText()),
          "drain the machine; lspci -d 10de: shows whether the GPU is on the bus, and dmesg shows "
          "why it is not (Xid 79)",
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
                   "check that the machine is of the expected kind", {});
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
                   "drain the machine; nvidia-smi nvlink -s and dmesg (Xid 74, SXid) show which "
                   "links are down",
                   {LinksChange{*gpu.gpu, std::move(links)}});
    }
  }

  /// Returns the total bandwidth between a GPU and its package's processor.
  static std::uint64_t C2cOf(const CheckContext& context, const CheckedGpu& gpu) {
    std::uint64_t mb_per_s = 0;
    if (gpu.gpu)
      for (const C2cLink& link : context.view().gpus[*gpu.gpu].c2c)
        mb_per_s += std::uint64_t{link.mb_per_s} * link.count;
    return mb_per_s;
  }

  void C2c() {
    std::uint64_t least = ~std::uint64_t{0};
    for (const CheckedGpu& gpu : expected_.gpus()) least = std::min(least, C2cOf(expected_, gpu));
    for (const CheckedGpu& gpu : context_.gpus()) {
      const std::uint64_t have = C2cOf(context_, gpu);
      if (!gpu.gpu || have >= least || expected_.gpus().empty()) continue;
      context_.Add(
          "c2c-fewer", {PartKind::kGpu, *gpu.gpu}, context_.NameOf(gpu),
          fmt::format("{:.0f} GB/s of C2C; the GPUs of {} have {:.0f} GB/s",
                      static_cast<double>(have) / 1000, name_, static_cast<double>(least) / 1000),
          "drain the machine; nvidia-smi c2c -s shows which links are down", {});
    }
  }

  /// Finds the case of no GPU with GPUDirect RDMA. Comparison with peers cannot show it.
  void Gdr() {
    const auto has_gdr = [](const CheckContext& context, const CheckedGpu& gpu) {
      return gpu.gpu && context.view().gpus[*gpu.gpu].gdr.value_or(false);
    };
    for (const CheckedGpu& gpu : expected_.gpus())
      if (!has_gdr(expected_, gpu)) return;
    for (const CheckedGpu& gpu : context_.gpus())
      if (gpu.gpu && context_.view().gpus[*gpu.gpu].gdr == false)
        context_.Add("gpu-gdr", {PartKind::kGpu, *gpu.gpu}, context_.NameOf(gpu),
                     fmt::format("no GPUDirect RDMA; the GPUs of {} have it", name_),
                     "check that nvidia-peermem is loaded and that the GPU's driver works",
                     {GdrChange{{PartKind::kGpu, *gpu.gpu}}});
  }

  /// Finds the case of all GPUs too slow. Comparison with peers cannot show it.
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
      context_.Add(
          gpu.board != nullptr ? "gpu-pcie" : "card-pcie", {PartKind::kPci, gpu.pci},
          context_.NameOf(gpu),
          fmt::format("{}, {}; the GPUs of {} have {}, {}", LinkText(context_.At(gpu)),
                      RateText(have), name_, LinkText(norm), RateText(LinkOf(norm))),
          "drain the machine and reset it; check the limits that the firmware sets for the slots",
          {PcieChange{gpu.pci, norm.link_speed, norm.link_width}});
    }
  }

  CheckContext& context_;
  const CheckContext& expected_;
  std::string_view name_;
  std::set<BusId> addresses_, wanted_;
  bool same_addresses_ = false;
};

}  // namespace

bool HaveSameAddresses(const CheckContext& a, const CheckContext& b) {
  std::set<BusId> addresses;
  for (const CheckedGpu& gpu : a.gpus()) addresses.insert(a.At(gpu).bus);
  const auto common = static_cast<std::size_t>(std::ranges::count_if(
      b.gpus(), [&](const CheckedGpu& gpu) { return addresses.contains(b.At(gpu).bus); }));
  return common * 2 > std::min(a.gpus().size(), b.gpus().size());
}

void CheckExpected(CheckContext& context, const HostView& expected,
                   std::string_view expected_name) {
  const Positions none;
  const CheckContext other(expected, none);
  Comparison(context, other, expected_name).Run();
}

}  // namespace ringlet::topology
