// Rules about GPUs except for links: PCIe, GPUDirect, NUMA nodes, and number.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "topo/check/check_context.hpp"

namespace ringlet::topology {
namespace {

using GpuGroup = std::vector<const CheckedGpu*>;

std::map<std::string, GpuGroup> PeersOf(const CheckContext& context) {
  std::map<std::string, GpuGroup> groups;
  for (const CheckedGpu& gpu : context.gpus()) groups[context.ModelKey(gpu)].push_back(&gpu);
  return groups;
}

void CheckGpuPcie(CheckContext& context, const GpuGroup& group) {
  std::vector<std::uint64_t> rates;
  for (const CheckedGpu* gpu : group) rates.push_back(LinkOf(context.At(*gpu)).mb_per_s);
  const Majority most = MajorityOf(rates);
  const bool on_board = group.front()->board != nullptr;
  if (most.value == 0 ||
      !(IsNorm(most, group.size()) || (on_board && most.count * 2 == group.size())))
    return;
  const auto norm =
      static_cast<std::size_t>(std::find(rates.begin(), rates.end(), most.value) - rates.begin());
  const PciDevice& peer = context.At(*group[norm]);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const PciDevice& device = context.At(*group[i]);
    if (rates[i] == 0 || rates[i] >= most.value) continue;
    context.Add(on_board ? "gpu-pcie" : "card-pcie", {PartKind::kPci, group[i]->pci},
                context.NameOf(*group[i]),
                fmt::format("{}, {}; {} of its {} peers have {}, {}", LinkText(device),
                            RateText(LinkOf(device)), most.count, group.size() - 1, LinkText(peer),
                            RateText(LinkOf(peer))),
                on_board ? "drain the machine and reset it; if the link stays slow, replace the "
                           "board or its riser"
                         : "reseat the card, or move it to a slot as wide as those of its peers",
                {PcieChange{group[i]->pci, peer.link_speed, peer.link_width}});
  }
}

void CheckGpuGdr(CheckContext& context, const GpuGroup& group) {
  const HostView& view = context.view();
  GpuGroup with, without;
  for (const CheckedGpu* gpu : group) {
    if (!gpu->gpu || !view.gpus[*gpu->gpu].gdr) return;
    (*view.gpus[*gpu->gpu].gdr ? with : without).push_back(gpu);
  }
  if (without.empty() || with.size() <= without.size()) return;
  for (const CheckedGpu* gpu : without)
    context.Add(
        "gpu-gdr", {PartKind::kGpu, *gpu->gpu}, context.NameOf(*gpu),
        fmt::format("no GPUDirect RDMA; {} of its {} peers have it", with.size(), group.size() - 1),
        "check that nvidia-peermem is loaded and that the GPU's driver works",
        {GdrChange{{PartKind::kGpu, *gpu->gpu}}});
}

/// Finds firmware that does not report the place of one of several devices.
void CheckGpuNuma(CheckContext& context, const GpuGroup& group) {
  std::size_t known = 0;
  for (const CheckedGpu* gpu : group)
    if (context.NumaOf(gpu->pci) != kUnknownNuma) ++known;
  if (known * 2 <= group.size()) return;
  for (const CheckedGpu* gpu : group)
    if (context.NumaOf(gpu->pci) == kUnknownNuma)
      context.Add("gpu-numa", {PartKind::kPci, gpu->pci}, context.NameOf(*gpu),
                  fmt::format("its NUMA node is unknown; those of {} peers are known", known),
                  "update the firmware, or put the function under its cpu in the topology file",
                  {});
}

/// A board with switches distributes its GPUs evenly over NUMA nodes. Otherwise one of its switches
/// may be on the wrong node.
void CheckSpread(CheckContext& context, const GpuGroup& all) {
  constexpr std::uint16_t kNvidiaVendor = 0x10de;
  if (all.front()->board->vendor != kNvidiaVendor) return;
  std::map<std::uint64_t, std::map<std::uint32_t, std::size_t>> hosts;
  for (const CheckedGpu* gpu : all) ++hosts[gpu->host][context.NumaOf(gpu->pci)];
  for (const auto& [host, nodes] : hosts) {
    std::size_t gpus = 0, most = 0, least = all.size();
    std::string text;
    for (const auto& [node, count] : nodes) {
      gpus += count;
      most = std::max(most, count);
      least = std::min(least, count);
      text += fmt::format("{}{} at node {}", text.empty() ? "" : ", ", count, node);
    }
    if (gpus % all.front()->board->gpus != 0 || most == least || nodes.contains(kUnknownNuma))
      continue;
    context.Add("gpu-numa", {}, fmt::format("{} GPUs ({})", gpus, all.front()->board->model),
                fmt::format("their spread over NUMA nodes is uneven: {}", text),
                "cat /sys/bus/pci/devices/ADDRESS/numa_node shows the node of each: correct the "
                "file, or the NUMA setting of the firmware",
                {});
  }
}

/// Returns the part for a missing GPU: beside a NIC that lacks a GPU, unlike its peers, else the
/// part with the fewest GPUs.
GpuAdded PlaceForMissing(const CheckContext& context, const GpuGroup& group) {
  const HostView& view = context.view();
  std::vector<bool> has_gpu(view.pci.size(), false);
  for (const CheckedGpu& gpu : context.gpus()) has_gpu[context.RootOf(gpu.pci)] = true;
  const CheckedGpu& like = *group.front();
  GpuAdded added{like.gpu.value_or(0), view.pci[like.pci].parent};
  const std::uint32_t root = context.RootOf(like.pci);
  for (const CheckedNic& nic : context.nics()) {
    const std::uint32_t other = context.RootOf(nic.pci);
    const bool is_alike = other != nic.pci && root != like.pci &&
                          view.pci[other].ids == view.pci[root].ids && nic.host == like.host;
    if (!has_gpu[other] && is_alike) return {added.like, {PartKind::kPci, other}};
  }
  std::map<Part, std::size_t> below;
  for (const CheckedGpu* gpu : group) ++below[view.pci[gpu->pci].parent];
  std::size_t least = group.size() + 1;
  for (const auto& [parent, count] : below) {
    if (count >= least) continue;
    least = count;
    added.parent = parent;
  }
  return added;
}

void CheckGpuCount(CheckContext& context, const GpuGroup& all) {
  const HostView& view = context.view();
  std::map<std::uint64_t, GpuGroup> hosts;
  for (const CheckedGpu* gpu : all) hosts[gpu->host].push_back(gpu);
  for (const auto& [host, group] : hosts) {
    const GpuBoard& board = *group.front()->board;
    const auto count = static_cast<std::uint32_t>(group.size());
    if (IsWholeBoard(board, count, view.cpu.arch == "ppc64")) continue;
    const std::uint32_t whole = (count / board.gpus + 1) * board.gpus;
    std::vector<Change> repair;
    for (std::uint32_t i = count; i < whole && group.front()->gpu; ++i)
      repair.emplace_back(PlaceForMissing(context, group));
    context.Add(
        "gpu-missing", {}, fmt::format("{} GPUs ({})", count, board.model),
        fmt::format("{} of {} GPUs of the board are present", count, whole),
        "drain the machine; lspci -d 10de: shows whether the GPU is on the bus, and dmesg shows "
        "why it is not (Xid 79); if a job on fewer GPUs dumped the file, dump it again",
        std::move(repair));
  }
}

/// Finds functions of the GPUs' model without a GPU from the driver or NCCL.
void CheckSilent(CheckContext& context) {
  const HostView& view = context.view();
  std::map<std::uint64_t, std::size_t> models;
  std::vector<bool> has_gpu(view.pci.size(), false);
  for (const CheckedGpu& gpu : context.gpus()) {
    has_gpu[gpu.pci] = true;
    if (gpu.gpu && context.At(gpu).ids.vendor != 0) ++models[context.At(gpu).ids.packed()];
  }
  for (std::uint32_t i = 0; i < view.pci.size(); ++i)
    if (!has_gpu[i] && models.contains(view.pci[i].ids.packed()))
      context.Add("gpu-missing", {PartKind::kPci, i}, "GPU",
                  "the PCI function belongs to a GPU, but the GPU itself is missing",
                  "drain the machine; nvidia-smi and dmesg show the errors of its driver", {});
}

/// Finds GPUs all below their model's generation, as in a virtual machine or an older host.
void CheckGeneration(CheckContext& context, const GpuGroup& group) {
  const CheckedGpu& first = *group.front();
  const std::uint8_t generation = context.At(first).link_speed.generation;
  const bool equal = std::all_of(group.begin(), group.end(), [&](const CheckedGpu* gpu) {
    return context.At(*gpu).link_speed.generation == generation;
  });
  if (generation == 0 || generation >= first.board->generation || !equal) return;
  context.Add("gpu-below-model", {}, fmt::format("{} GPUs ({})", group.size(), first.board->model),
              fmt::format("all run at PCIe {}.0; the model supports {}.0", generation,
                          first.board->generation),
              "ignore this on a virtual machine or a host of that PCIe generation", {});
}

}  // namespace

void CheckGpus(CheckContext& context) {
  for (const auto& [key, group] : PeersOf(context)) {
    if (group.size() > 1) {
      CheckGpuPcie(context, group);
      CheckGpuGdr(context, group);
      CheckGpuNuma(context, group);
    }
    if (group.front()->board == nullptr) continue;
    CheckGpuCount(context, group);
    CheckSpread(context, group);
    CheckGeneration(context, group);
  }
  CheckSilent(context);
}

}  // namespace ringlet::topology
