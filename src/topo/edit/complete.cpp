#include "topo/edit/complete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "topology/view/refuse.hpp"
#include "topology/xml/xml_reader.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::topology {
namespace {

constexpr PciClass kGpuClass{0x030200};
constexpr PciClass kNvSwitchClass{0x068000};

struct MeshEdge {
  std::uint32_t a, b, links;
};
/// Source  NVIDIA DGX-1 with Tesla V100 System Architecture white paper, figure of the hybrid cube
///         mesh; the same in test/fixtures/topologies/nvidia/ucb_dgx1v.topo.xml.
constexpr std::array<MeshEdge, 16> kCubeMesh = {{{0, 1, 1},
                                                 {0, 2, 1},
                                                 {0, 3, 2},
                                                 {0, 4, 2},
                                                 {1, 2, 2},
                                                 {1, 3, 1},
                                                 {1, 5, 2},
                                                 {2, 3, 2},
                                                 {2, 6, 1},
                                                 {3, 7, 1},
                                                 {4, 5, 1},
                                                 {4, 6, 1},
                                                 {4, 7, 2},
                                                 {5, 6, 2},
                                                 {5, 7, 1},
                                                 {6, 7, 2}}};

void Join(HostView& view, std::uint32_t a, std::uint32_t b, std::uint32_t links, GpuLinkKind kind) {
  const auto add = [&](Gpu& gpu, const Gpu& peer) {
    const PciDevice& at = view.pci[peer.pci];
    gpu.links.push_back({kind, at.bus, links, at.device_class.value_or(kGpuClass)});
  };
  add(view.gpus[a], view.gpus[b]);
  add(view.gpus[b], view.gpus[a]);
}

class Completer {
 public:
  Completer(const HostView& view, const Completion& completion)
      : view_(view), completion_(completion) {}

  Result<Completed> Run() {
    RINGLET_TRY(AddGpus());
    AddNics();
    RINGLET_TRY(AddLinks());
    RINGLET_TRY(view_.Check());
    // Re-reads the XML, so added parts have the order of a file.
    RINGLET_TRY_ASSIGN(HostView ordered, ViewFromXml(ToXml(view_), ""));
    return Completed{std::move(ordered), std::move(notes_)};
  }

 private:
  bool HasRole(std::uint32_t pci, PciRole role) const {
    const std::optional<PciClass>& device_class = view_.pci[pci].device_class;
    return device_class && device_class->role() == role;
  }

  /// Numbers hosts in order of first appearance.
  std::size_t HostNumberOf(std::uint32_t pci) {
    const std::uint32_t numa = view_.NumaIndexOf({PartKind::kPci, pci}).value_or(0);
    return hosts_.emplace(view_.HostOf(view_.numa_nodes[numa]), hosts_.size()).first->second;
  }

  /// Returns functions of a GPU's class without a GPU, in the order of their numbers.
  std::vector<std::uint32_t> PlacesForGpus() {
    std::vector<bool> has_gpu(view_.pci.size(), false);
    for (const Gpu& gpu : view_.gpus) has_gpu[gpu.pci] = true;
    std::vector<std::pair<std::size_t, std::uint32_t>> places;  // host and function
    for (std::uint32_t i = 0; i < view_.pci.size(); ++i)
      if (!has_gpu[i] && HasRole(i, PciRole::kGpu)) places.emplace_back(HostNumberOf(i), i);
    std::stable_sort(places.begin(), places.end(), [&](const auto& a, const auto& b) {
      return std::pair(a.first, view_.pci[a.second].bus) <
             std::pair(b.first, view_.pci[b.second].bus);
    });
    std::vector<std::uint32_t> functions;
    for (const auto& [host, function] : places) functions.push_back(function);
    return functions;
  }

  Status AddGpus() {
    const std::vector<std::uint32_t> places = PlacesForGpus();
    const bool ranked = std::any_of(view_.gpus.begin(), view_.gpus.end(),
                                    [](const Gpu& gpu) { return gpu.rank.has_value(); });
    std::map<std::size_t, std::uint32_t> next_device;  // per host
    for (const Gpu& gpu : view_.gpus) {
      std::uint32_t& next = next_device[HostNumberOf(gpu.pci)];
      next = std::max(next, gpu.dev.value_or(0) + 1);
    }
    for (const std::uint32_t place : places) {
      const GpuModel* known = FindGpuModel(view_.pci[place].ids);
      const GpuModel* model = known != nullptr ? known : completion_.gpu;
      if (model == nullptr)
        return Refuse(
            fmt::format("the model of GPU {} is unknown; name it", ToString(view_.pci[place].bus)));
      if (view_.pci[place].ids == PciIds{})
        view_.pci[place].ids = {.vendor = model->vendor, .device = model->device};
      const auto index = static_cast<std::uint32_t>(view_.gpus.size());
      Gpu gpu{.pci = place, .dev = next_device[HostNumberOf(place)]++, .gcn = ""};
      gpu.gcn = model->gcn;
      gpu.compute_capability = model->compute_capability;
      if (!ranked) gpu.rank = index;
      gpu.gdr = true;
      view_.gpus.push_back(std::move(gpu));
      models_[index] = model;
    }
    if (!places.empty())
      notes_.push_back(fmt::format("{} GPUs were added, with GPUDirect RDMA, numbered by bus id",
                                   places.size()));
    return Ok();
  }

  void AddNics() {
    std::vector<bool> has_nic(view_.pci.size(), false);
    for (const Nic& nic : view_.nics)
      if (nic.parent.kind == PartKind::kPci) has_nic[nic.parent.index] = true;
    std::uint32_t next = 0;
    for (const NetInterface& net : view_.nets) next = std::max(next, net.dev.value_or(0) + 1);
    std::uint32_t added = 0;
    for (std::uint32_t i = 0; i < view_.pci.size(); ++i) {
      if (has_nic[i] || !HasRole(i, PciRole::kNic)) continue;
      view_.nics.push_back({{PartKind::kPci, i}});
      NetInterface net{.name = fmt::format("nic{}", next),
                       .speed_mbit_per_s = completion_.nic_mbit_per_s,
                       .numa = std::nullopt,
                       .nic = static_cast<std::uint32_t>(view_.nics.size() - 1)};
      net.dev = next++;
      net.port = 1;
      net.gdr = true;
      view_.nets.push_back(std::move(net));
      ++added;
    }
    if (added > 0)
      notes_.push_back(
          completion_.nic_mbit_per_s
              ? fmt::format("{} NICs of {} Mbit/s were added", added, *completion_.nic_mbit_per_s)
              : fmt::format("{} NICs of unknown speed were added", added));
  }

  Status AddLinks() {
    std::map<std::uint64_t, std::vector<std::uint32_t>> hosts;
    for (const auto& [index, model] : models_) {
      const Part part{PartKind::kGpu, index};
      const std::uint32_t numa = view_.NumaIndexOf(part).value_or(0);
      hosts[view_.HostOf(view_.numa_nodes[numa])].push_back(index);
    }
    for (const auto& [host, gpus] : hosts) {
      const GpuModel& model = *models_[gpus.front()];
      const GpuLinkKind kind = model.gcn.empty() ? GpuLinkKind::kNvLink : GpuLinkKind::kXgmi;
      RINGLET_TRY(LinkGpus(view_, gpus, completion_.layout, model.links, kind));
      if (completion_.layout != LinkLayout::kNone)
        notes_.push_back(fmt::format("{} GPUs were linked as \"{}\" with {} links each",
                                     gpus.size(), LayoutName(completion_.layout), model.links));
    }
    return Ok();
  }

  HostView view_;
  const Completion& completion_;
  std::map<std::uint64_t, std::size_t> hosts_;
  std::map<std::uint32_t, const GpuModel*> models_;  // of added GPUs
  std::vector<std::string> notes_;
};

}  // namespace

bool IsSkeleton(const HostView& view) {
  if (!view.gpus.empty()) return false;
  std::vector<bool> has_nic(view.pci.size(), false);
  for (const Nic& nic : view.nics)
    if (nic.parent.kind == PartKind::kPci) has_nic[nic.parent.index] = true;
  for (std::size_t i = 0; i < view.pci.size(); ++i) {
    if (!view.pci[i].device_class) continue;
    const PciRole role = view.pci[i].device_class->role();
    if (role == PciRole::kGpu || (role == PciRole::kNic && !has_nic[i])) return true;
  }
  return false;
}

Completion CompletionOf(const KnownMachine& machine) {
  return {.gpu = FindGpuModel(machine.gpu),
          .layout = machine.layout,
          .nic_mbit_per_s = machine.nic_mbit_per_s};
}

Result<Completed> Complete(const HostView& view, const Completion& completion) {
  return Completer(view, completion).Run();
}

Status LinkGpus(HostView& view, const std::vector<std::uint32_t>& gpus, LinkLayout layout,
                std::uint32_t links, GpuLinkKind kind) {
  const std::size_t count = gpus.size();
  if (layout == LinkLayout::kNone) return Ok();
  if (links == 0) return Refuse("these GPUs do not have links");
  switch (layout) {
    case LinkLayout::kNone: break;
    case LinkLayout::kSwitch:
      for (const std::uint32_t gpu : gpus)
        view.gpus[gpu].links.push_back({kind, std::nullopt, links, kNvSwitchClass});
      break;
    case LinkLayout::kPairs:
      if (count % 2 != 0) return Refuse(fmt::format("{} GPUs cannot be joined in pairs", count));
      for (std::size_t i = 0; i < count; i += 2) Join(view, gpus[i], gpus[i + 1], links, kind);
      break;
    case LinkLayout::kMesh: {
      if (count < 2 || links / (count - 1) == 0)
        return Refuse(fmt::format("{} links are too few, or {} GPUs too many or few, for a mesh",
                                  links, count));
      const auto each = static_cast<std::uint32_t>(links / (count - 1));
      for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = a + 1; b < count; ++b) Join(view, gpus[a], gpus[b], each, kind);
      break;
    }
    case LinkLayout::kCubeMesh:
      if (count != 8 || links != 6)
        return Refuse(
            fmt::format("a cube mesh has 8 GPUs with 6 links each, not {} with {}", count, links));
      for (const MeshEdge& edge : kCubeMesh)
        Join(view, gpus[edge.a], gpus[edge.b], edge.links, kind);
  }
  return Ok();
}

}  // namespace ringlet::topology
