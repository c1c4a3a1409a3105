// Rules about NVLinks and similar links.
#include <fmt/format.h>

#include <algorithm>

#include "topo/lint/lint_context.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::topology {
namespace {

std::string_view NameOf(GpuLinkKind kind) {
  return kind == GpuLinkKind::kXgmi ? "xGMI" : "NVLink";
}

/// Returns the number of links of one kind from a GPU to an address.
std::uint64_t LinksTo(const Gpu& gpu, GpuLinkKind kind, BusId target) {
  std::uint64_t links = 0;
  for (const GpuLink& link : gpu.links)
    if (link.kind == kind && link.target == target) links += link.count;
  return links;
}

void LintClass(LintContext& context, Part part, const GpuLink& link, bool target_is_gpu) {
  if (!link.target_class)
    return context.AddFinding(
        Severity::kWarning, "missing-class", part, "",
        "tclass is missing; NCCL looks it up on the machine, or assumes a switch",
        "write 0x030200 for a GPU, 0x068000 for an NVSwitch");
  const bool says_gpu = link.target_class->role() == PciRole::kGpu;
  if (target_is_gpu && !says_gpu)
    context.AddFinding(
        Severity::kError, "nvlink-odd-class", part, "tclass",
        fmt::format("the target {} is a GPU of this file, but tclass {} means {}; NCCL would "
                    "connect it to a switch",
                    ToString(*link.target), ToString(*link.target_class),
                    link.target_class->role() == PciRole::kNvSwitch ? "NVSwitch" : "otherwise"),
        "write 0x030200, or name the NVSwitch as target");
  if (!link.target && says_gpu)
    context.AddFinding(Severity::kError, "nvlink-no-target", part, "target",
                       "the link does not name its GPU", "write the bus id of that GPU");
}

/// Both ends must agree. Reports a pair once: at the later end, or at the only end with links.
void LintSymmetry(LintContext& context, Part part, const GpuLink& link, std::uint32_t peer) {
  const HostView& view = context.view();
  const Gpu& gpu = view.gpus[part.index];
  const BusId own = view.pci[gpu.pci].bus;
  const std::uint64_t here = LinksTo(gpu, link.kind, *link.target);
  const std::uint64_t back = LinksTo(view.gpus[peer], link.kind, own);
  if (here == back || (back != 0 && peer > part.index)) return;
  context.AddFinding(
      Severity::kError, "nvlink-asymmetric", part, "count",
      fmt::format("{} {} links to {}, but {} back ({}); {}", here, NameOf(link.kind),
                  ToString(*link.target), back, context.Where({PartKind::kGpu, peer}),
                  back == 0 ? "NCCL stops with \"Failed to find reverse path\""
                            : "NCCL computes a different bandwidth for each direction"),
      "a link has two ends: nvidia-smi nvlink -s shows the number of links");
}

void LintLink(LintContext& context, Part part) {
  const HostView& view = context.view();
  const Gpu& gpu = view.gpus[part.index];
  const GpuLink& link = gpu.links[part.item];
  if (link.target == view.pci[gpu.pci].bus)
    return context.AddFinding(Severity::kError, "nvlink-self-loop", part, "target",
                              fmt::format("the {} of this GPU leads to itself", NameOf(link.kind)),
                              "name the GPU at the other end; nvidia-smi topo -m shows which");
  if (link.count == 0)
    context.AddFinding(
        Severity::kError, "nvlink-count-0", part, "count",
        fmt::format("a connection of 0 {} links does not have any bandwidth", NameOf(link.kind)),
        "write the number of links (nvidia-smi nvlink -s), or remove the line");
  std::optional<std::uint32_t> peer;
  if (link.target) peer = context.GpuAt(context.HostOf(part), *link.target);
  if (link.target && !peer && !IsPossible(*link.target))
    context.AddFinding(
        Severity::kWarning, "impossible-bus-id", part, "target",
        fmt::format("{} is not a possible PCI address", ToString(*link.target)),
        "write the address of the GPU or NVSwitch, or fffffff:ffff:ff if the address is hidden");
  LintClass(context, part, link, peer.has_value());
  if (!peer) {
    if (link.target && link.target_class && link.target_class->role() == PciRole::kGpu)
      context.AddFinding(Severity::kNote, "nvlink-elsewhere", part, "target",
                         fmt::format("GPU {} is missing from this file; NCCL ignores the link",
                                     ToString(*link.target)),
                         "");
    return;
  }
  // Among several ranks on one GPU only the first one's links count.
  const auto& ranks = context.GpusOf(gpu.pci);
  if (link.count != 0 && ranks.front() == part.index) LintSymmetry(context, part, link, *peer);
}

/// Finds more links than the generation has.
void LintTotal(LintContext& context, std::uint32_t index) {
  const Gpu& gpu = context.view().gpus[index];
  std::uint64_t total = 0;
  for (const GpuLink& link : gpu.links)
    if (link.kind == GpuLinkKind::kNvLink) total += link.count;
  const std::uint32_t max = NvLinksMax(gpu.compute_capability);
  if (gpu.compute_capability == 0 || total <= max) return;
  const bool pairwise = gpu.links.size() > 1 && gpu.links.front().count == max;
  context.AddFinding(Severity::kError, "nvlink-too-many", {PartKind::kGpu, index}, "",
                     fmt::format("{} NVLinks, but a GPU of compute capability {} has at most {}{}",
                                 total, gpu.compute_capability, max,
                                 pairwise ? "; the file gives all of them to each neighbour" : ""),
                     pairwise ? "behind NVSwitches, write one link with the full count, target "
                                "fffffff:ffff:ff and tclass 0x068000"
                              : "nvidia-smi nvlink -s shows the number of links");
}

}  // namespace

void LintLinks(LintContext& context) {
  const HostView& view = context.view();
  for (std::uint32_t i = 0; i < view.gpus.size(); ++i) {
    LintTotal(context, i);
    for (std::uint32_t link = 0; link < view.gpus[i].links.size(); ++link)
      LintLink(context, {PartKind::kGpuLink, i, link});
    for (std::uint32_t c2c = 0; c2c < view.gpus[i].c2c.size(); ++c2c) {
      const C2cLink& link = view.gpus[i].c2c[c2c];
      if (link.mb_per_s == 0 || link.count == 0)
        context.AddFinding(Severity::kError, "c2c-without-bandwidth", {PartKind::kC2c, i, c2c}, "",
                           "bw and count must both be more than 0", "");
    }
  }
}

}  // namespace ringlet::topology
