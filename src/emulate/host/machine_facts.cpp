#include "emulate/host/machine_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "topology/view/host_view.hpp"
#include "topology/view/known_devices.hpp"

namespace ringlet::cuda {
namespace {

using topology::HostView;

constexpr const char* kPlainName = "Ringlet emulated device";
/// A domain that no computer uses: real domains begin at 0, virtual ones at 0x10000.
constexpr std::uint32_t kPlainDomain = 0x5249;
constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;
constexpr std::size_t kCpusOfAWord = 64;

PciPlace PlaceOf(topology::BusId bus) {
  return {bus.domain(), bus.bus(), bus.device(), bus.function()};
}

LinkEndKind KindOf(const topology::GpuLink& link) {
  const auto role = link.target_class ? link.target_class->role() : topology::PciRole::kGpu;
  if (role == topology::PciRole::kNvSwitch) return LinkEndKind::kSwitch;
  return role == topology::PciRole::kCpuBridge ? LinkEndKind::kProcessor : LinkEndKind::kGpu;
}

std::vector<LinkEnd> LinksOf(const topology::Gpu& gpu) {
  std::vector<LinkEnd> links;
  for (const topology::GpuLink& link : gpu.links) {
    const LinkEnd end{KindOf(link),
                      link.target ? std::optional(PlaceOf(*link.target)) : std::nullopt};
    const std::size_t room = HostView::kLinksMax - std::min(links.size(), HostView::kLinksMax);
    links.insert(links.end(), std::min<std::size_t>(link.count, room), end);
  }
  return links;
}

std::vector<std::uint64_t> MaskOf(const topology::CpuSet& cpus) {
  std::vector<std::uint64_t> mask;
  for (const auto& range : cpus.ranges())
    for (std::uint32_t cpu = range.first; cpu <= range.last; ++cpu) {
      if (mask.size() <= cpu / kCpusOfAWord) mask.resize(cpu / kCpusOfAWord + 1);
      mask[cpu / kCpusOfAWord] |= std::uint64_t{1} << cpu % kCpusOfAWord;
    }
  return mask;
}

LinkDomain DomainOf(const topology::NvlinkFabric& fabric) {
  LinkDomain domain{.clique = fabric.clique};
  for (std::size_t i = 0; i < domain.cluster.size(); ++i)
    domain.cluster[i] = static_cast<unsigned char>(fabric.cluster[i / 8] >> (56 - 8 * (i % 8)));
  return domain;
}

void FillFromModel(CudaDeviceFacts& facts, const topology::PciIds& ids) {
  const topology::GpuModel* const model = topology::FindGpuModel(ids);
  if (model == nullptr) {
    facts.name = fmt::format("NVIDIA GPU (sm_{})", facts.capability);
    facts.links_max = static_cast<std::uint32_t>(facts.links.size());
    return;
  }
  facts.name = model->product;
  facts.memory_bytes = model->memory_gib * kGibibyte;
  facts.processors = static_cast<int>(model->processors);
  facts.links_max = std::max(model->links, static_cast<std::uint32_t>(facts.links.size()));
}

void FillFromNode(CudaDeviceFacts& facts, const topology::NumaNode& node) {
  if (node.id != topology::kUnknownNuma) facts.numa = node.id;
  facts.cpus = MaskOf(node.cpus);
}

CudaDeviceFacts FactsOf(const HostView& view, const topology::Gpu& gpu, std::uint32_t node) {
  const topology::PciDevice& pci = view.pci[gpu.pci];
  CudaDeviceFacts facts{.name = {}, .capability = gpu.compute_capability, .pci = PlaceOf(pci.bus)};
  facts.pci_id = std::uint32_t{pci.ids.device} << 16 | pci.ids.vendor;
  facts.pci_subsystem_id = std::uint32_t{pci.ids.subsystem_device} << 16 | pci.ids.subsystem_vendor;
  facts.pcie_generation = pci.link_speed.generation;
  facts.pcie_width = pci.link_width;
  facts.links = LinksOf(gpu);
  for (const topology::C2cLink& links : gpu.c2c)
    facts.processor_links = ProcessorLinks{links.count, links.mb_per_s};
  if (gpu.fabric) facts.domain = DomainOf(*gpu.fabric);
  FillFromNode(facts, view.numa_nodes[node]);
  FillFromModel(facts, pci.ids);
  return facts;
}

/// Returns the PCI functions above a GPU's function, top first.
std::vector<std::uint32_t> FunctionsAbove(const HostView& view, const topology::Gpu& gpu) {
  std::vector<std::uint32_t> functions;
  for (topology::Part part = view.pci[gpu.pci].parent;
       part.kind == topology::PartKind::kPci && functions.size() < HostView::kDepthMax;
       part = view.pci[part.index].parent)
    functions.insert(functions.begin(), part.index);
  return functions;
}

bool IsGeForce(const CudaDeviceFacts& device) {
  return device.name.find("GeForce") != std::string::npos;
}

bool HasLinkTo(const CudaDeviceFacts& from, const CudaDeviceFacts& to) {
  return std::ranges::any_of(from.links, [&](const LinkEnd& end) {
    return end.kind == LinkEndKind::kGpu && end.at == to.pci;
  });
}

bool HasSwitch(const CudaDeviceFacts& device) {
  return std::ranges::count(device.links, LinkEndKind::kSwitch, &LinkEnd::kind) > 0;
}

}  // namespace

MachineFacts MachineFacts::Plain(std::uint32_t devices, std::uint32_t host) {
  MachineFacts machine;
  for (std::uint32_t number = 0; number < devices; ++number) {
    CudaDeviceFacts device{.name = kPlainName};
    device.pci = {kPlainDomain, static_cast<std::uint8_t>(number + 1), 0, 0};
    device.uuid = Uuid(number, host);
    machine.devices_.push_back(std::move(device));
  }
  machine.ancestries_.resize(devices);
  return machine;
}

Result<MachineFacts> MachineFacts::Of(const HostView& view, std::uint32_t host) {
  MachineFacts machine;
  const std::size_t count = view.gpus.size();
  std::vector<bool> given(count, false);
  machine.devices_.resize(count);
  machine.ancestries_.resize(count);
  for (std::uint32_t index = 0; index < count; ++index) {
    const topology::Gpu& gpu = view.gpus[index];
    const std::string where = ToString(view.pci[gpu.pci].bus);
    if (!gpu.dev || *gpu.dev >= count || given[*gpu.dev])
      return Error{
          Code::kInvalidArgument,
          fmt::format("the GPU {} lacks its own number from 0 to {} (dev)", where, count - 1)};
    if (gpu.compute_capability == 0)
      return Error{Code::kInvalidArgument,
                   fmt::format("the GPU {} lacks a compute capability (sm)", where)};
    given[*gpu.dev] = true;
    const std::uint32_t node = view.NumaIndexOf({topology::PartKind::kGpu, index}).value_or(0);
    machine.devices_[*gpu.dev] = FactsOf(view, gpu, node);
    machine.devices_[*gpu.dev].uuid = Uuid(*gpu.dev, host);
    machine.ancestries_[*gpu.dev] = {node, FunctionsAbove(view, gpu)};
  }
  machine.crosses_nodes_ = view.cpu.vendor == "AuthenticAMD";
  return machine;
}

void MachineFacts::LimitDevices(std::uint32_t devices) {
  devices_.resize(std::min<std::size_t>(devices, devices_.size()));
  ancestries_.resize(devices_.size());
}

std::optional<std::uint32_t> MachineFacts::At(const PciPlace& place) const {
  const auto at = std::ranges::find(devices_, place, &CudaDeviceFacts::pci);
  if (at == devices_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(at - devices_.begin());
}

DeviceNearness MachineFacts::Nearness(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return DeviceNearness::kSame;
  const Ancestry &of_a = ancestries_[a], &of_b = ancestries_[b];
  if (of_a.node != of_b.node) return DeviceNearness::kSystem;
  const auto [at_a, at_b] = std::ranges::mismatch(of_a.functions, of_b.functions);
  if (at_a == of_a.functions.begin()) return DeviceNearness::kNode;
  const bool one = at_a == of_a.functions.end() && at_b == of_b.functions.end();
  return one ? DeviceNearness::kSwitch : DeviceNearness::kSwitches;
}

PeerPath MachineFacts::Peer(std::uint32_t a, std::uint32_t b) const {
  if (a == b) return PeerPath::kNone;
  const CudaDeviceFacts &of_a = devices_[a], &of_b = devices_[b];
  if (HasLinkTo(of_a, of_b) || HasLinkTo(of_b, of_a) || (HasSwitch(of_a) && HasSwitch(of_b)))
    return PeerPath::kNvLink;
  if (IsGeForce(of_a) || IsGeForce(of_b)) return PeerPath::kNone;
  const bool same_node = Nearness(a, b) != DeviceNearness::kSystem;
  return same_node || crosses_nodes_ ? PeerPath::kPci : PeerPath::kNone;
}

}  // namespace ringlet::cuda
