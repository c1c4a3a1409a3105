// Rules about NVLinks and similar links: their number by model and by peers.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "topo/check/check_context.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::topology {
namespace {

constexpr PciClass kHiddenSwitchClass{0x068000};

std::string_view KindOf(const CheckedGpu& gpu) {
  constexpr std::uint16_t kAmdVendor = 0x1002;
  return gpu.board != nullptr && gpu.board->vendor == kAmdVendor ? "xGMI links" : "NVLinks";
}

/// GPUs of one host on boards of one model, with the view's facts about them.
struct LinkedGroup {
  std::vector<const CheckedGpu*> gpus;
  std::vector<std::uint64_t> links;  ///< per GPU
  Majority most;
  std::uint32_t wanted = 0;  ///< expected number per GPU
};

const Gpu& GpuOf(const CheckContext& context, const CheckedGpu& place) {
  return context.view().gpus[*place.gpu];
}

bool IsLinkToGpu(const GpuLink& link) {
  return link.target_class && link.target_class->role() == PciRole::kGpu;
}

/// Returns the switch links of a complete peer: to the same switches, or to the hidden ones.
std::vector<GpuLink> LinksLikePeer(const CheckContext& context, const LinkedGroup& group,
                                   std::uint64_t wanted) {
  for (std::size_t i = 0; i < group.gpus.size(); ++i) {
    const std::vector<GpuLink>& links = GpuOf(context, *group.gpus[i]).links;
    if (group.links[i] == wanted && std::none_of(links.begin(), links.end(), IsLinkToGpu))
      return links;
  }
  return {};
}

/// Returns the repaired links between GPUs. All pairs of a mesh get the same number. Of two GPUs
/// with equal losses, the missing links join them.
std::vector<Change> MeshRepair(const CheckContext& context, const LinkedGroup& group) {
  const HostView& view = context.view();
  std::vector<std::size_t> lacking;
  for (std::size_t i = 0; i < group.gpus.size(); ++i)
    if (group.links[i] < group.wanted) lacking.push_back(i);
  if (lacking.size() != 2) return {};
  const CheckedGpu& a = *group.gpus[lacking[0]];
  const CheckedGpu& b = *group.gpus[lacking[1]];
  const std::uint64_t lost =
      std::min(group.wanted - group.links[lacking[0]], group.wanted - group.links[lacking[1]]);
  const auto with = [&](const CheckedGpu& from, const CheckedGpu& to) {
    std::vector<GpuLink> links = GpuOf(context, from).links;
    const BusId target = view.pci[to.pci].bus;
    const auto at = std::find_if(links.begin(), links.end(),
                                 [&](const GpuLink& link) { return link.target == target; });
    if (at != links.end()) {
      at->count += static_cast<std::uint32_t>(lost);
    } else {
      GpuLink link = links.empty() ? GpuLink{} : links.front();
      link.target = target;
      link.target_class = view.pci[to.pci].device_class;
      link.count = static_cast<std::uint32_t>(lost);
      links.push_back(link);
    }
    return links;
  };
  return {LinksChange{*a.gpu, with(a, b)}, LinksChange{*b.gpu, with(b, a)}};
}

std::vector<Change> RepairOf(const CheckContext& context, const LinkedGroup& group,
                             const CheckedGpu& gpu) {
  std::vector<GpuLink> links = LinksLikePeer(context, group, group.wanted);
  if (!links.empty()) return {LinksChange{*gpu.gpu, std::move(links)}};
  // No GPU of the group has all links, so the links to switches grow evenly.
  const std::vector<GpuLink>& own = GpuOf(context, gpu).links;
  if (std::any_of(own.begin(), own.end(), IsLinkToGpu)) return MeshRepair(context, group);
  if (own.empty()) {
    if (KindOf(gpu) != "NVLinks") return {};
    return {LinksChange{*gpu.gpu, {{.count = group.wanted, .target_class = kHiddenSwitchClass}}}};
  }
  links = own;
  links.front().count += group.wanted - LinkCount(GpuOf(context, gpu));
  return {LinksChange{*gpu.gpu, std::move(links)}};
}

/// Lists "2 to 0000:1c:00.0" for each neighbour with more links from a peer.
std::string LostText(const CheckContext& context, const LinkedGroup& group, const CheckedGpu& gpu) {
  std::string text;
  for (const GpuLink& peer : LinksLikePeer(context, group, group.wanted)) {
    std::uint32_t own = 0;
    for (const GpuLink& link : GpuOf(context, gpu).links)
      if (link.target == peer.target) own += link.count;
    if (!peer.target || own >= peer.count) continue;
    text += fmt::format("{}{} to NVSwitch {}", text.empty() ? "; missing: " : ", ",
                        peer.count - own, ToString(*peer.target));
  }
  return text;
}

void ReportFewerLinks(CheckContext& context, const LinkedGroup& group, std::size_t i) {
  const CheckedGpu& gpu = *group.gpus[i];
  const std::string_view kind = KindOf(gpu);
  const auto full = static_cast<std::size_t>(
      std::count(group.links.begin(), group.links.end(), std::uint64_t{group.wanted}));
  const std::string others =
      full == 0 ? std::string(gpu.board == nullptr ? "" : "; no peer has all links")
                : fmt::format("; {} of its {} peers have all{}", full, group.gpus.size() - 1,
                              LostText(context, group, gpu));
  context.Add(group.links[i] == 0 ? "nvlinks-none" : "nvlinks-fewer", {PartKind::kGpu, *gpu.gpu},
              context.NameOf(gpu),
              fmt::format("{} of {} {}{}", group.links[i], group.wanted, kind, others),
              "drain the machine; nvidia-smi nvlink -s and dmesg (Xid 74, SXid) show which links "
              "are down; restart the fabric manager, reset the GPUs, else replace the board",
              RepairOf(context, group, gpu));
}

/// True for a partitioned GPU, or links to a POWER processor. The tables exclude such machines.
bool IsOdd(const CheckContext& context, const CheckedGpu& place) {
  const Gpu& gpu = GpuOf(context, place);
  return gpu.mlopart || !gpu.c2c.empty() ||
         std::any_of(gpu.links.begin(), gpu.links.end(), [](const GpuLink& link) {
           return link.target_class && link.target_class->role() == PciRole::kCpuBridge;
         });
}

bool HasLinksToGpus(const CheckContext& context, const LinkedGroup& group) {
  return std::any_of(group.gpus.begin(), group.gpus.end(), [&](const CheckedGpu* gpu) {
    const std::vector<GpuLink>& links = GpuOf(context, *gpu).links;
    return std::any_of(links.begin(), links.end(), IsLinkToGpu);
  });
}

void CheckLinkedGroup(CheckContext& context, LinkedGroup& group) {
  const GpuBoard* board = group.gpus.front()->board;
  for (const CheckedGpu* gpu : group.gpus) group.links.push_back(LinkCount(GpuOf(context, *gpu)));
  group.most = MajorityOf(group.links);
  const CheckedGpu& first = *group.gpus.front();
  const bool is_odd = IsOdd(context, first);
  const bool by_norm = group.most.count * 4 >= group.gpus.size() * 3 && group.gpus.size() > 2;
  if (board != nullptr && board->links != 0 && !is_odd) {
    // A virtual machine may have a part of a board without switches, and only its links.
    const bool is_part = group.gpus.size() < board->gpus && HasLinksToGpus(context, group);
    if (!is_part || group.most.value == board->links) group.wanted = board->links;
  } else if (by_norm && (is_odd || FindGpuModel(context.At(first).ids) == nullptr)) {
    // The model is unknown. Among known cards some have bridges and some do not.
    group.wanted = static_cast<std::uint32_t>(group.most.value);
  }
  if (group.wanted == 0) return;
  for (std::size_t i = 0; i < group.gpus.size(); ++i)
    if (group.links[i] < group.wanted) ReportFewerLinks(context, group, i);
}

}  // namespace

void CheckGpuLinks(CheckContext& context) {
  std::map<std::pair<std::uint64_t, std::string>, LinkedGroup> groups;
  for (const CheckedGpu& gpu : context.gpus())
    if (gpu.gpu) groups[{gpu.host, context.ModelKey(gpu)}].gpus.push_back(&gpu);
  for (auto& [key, group] : groups)
    if (group.gpus.size() > 1) CheckLinkedGroup(context, group);
}

}  // namespace ringlet::topology
