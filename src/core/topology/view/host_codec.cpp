// Encodes and decodes HostView for messages.
#include "topology/view/host_view.hpp"

namespace ringlet::topology {
namespace {

constexpr std::uint8_t kFormat = 2;
constexpr std::size_t kSpeedBytesMax = HostView::kNameBytesMax;

void PutOptional(Writer& out, const std::optional<std::uint32_t>& value) {
  out.U8(value ? 1 : 0);
  if (value) out.U32(*value);
}
void PutOptional(Writer& out, const std::optional<std::uint64_t>& value) {
  out.U8(value ? 1 : 0);
  if (value) out.U64(*value);
}
void PutOptional(Writer& out, const std::optional<bool>& value) {
  out.U8(value ? (*value ? 2 : 1) : 0);
}

/// Reads 0 or 1. Each value has one encoding, so that equal views have equal bytes.
bool TakeFlag(Reader& in) {
  const std::uint8_t flag = in.U8();
  if (flag > 1) in.Fail();
  return flag == 1;
}
std::optional<std::uint32_t> TakeOptional32(Reader& in) {
  return TakeFlag(in) ? std::optional(in.U32()) : std::nullopt;
}
std::optional<std::uint64_t> TakeOptional64(Reader& in) {
  return TakeFlag(in) ? std::optional(in.U64()) : std::nullopt;
}
std::optional<bool> TakeOptionalBool(Reader& in) {
  const std::uint8_t value = in.U8();
  if (value > 2) in.Fail();
  return value == 0 ? std::nullopt : std::optional(value == 2);
}

/// \param take  reads one element; must read at least a byte, so that the input limits the loop
template <typename T, typename Take>
void TakeMany(Reader& in, std::vector<T>& many, std::size_t max, Take take) {
  const std::size_t count = in.U32();
  if (count > max) in.Fail();
  for (std::size_t i = 0; i < count && in.ok(); ++i) many.push_back(take(in));
}
template <typename T, typename Put>
void PutMany(Writer& out, const std::vector<T>& many, Put put) {
  out.U32(static_cast<std::uint32_t>(many.size()));
  for (const T& one : many) put(out, one);
}

void PutPart(Writer& out, const Part& part) {
  out.U8(static_cast<std::uint8_t>(part.kind)).U32(part.index).U32(part.item);
}
Part TakePart(Reader& in) {
  const std::uint8_t kind = in.U8();
  if (kind > static_cast<std::uint8_t>(PartKind::kPciLink)) in.Fail();
  Part part;
  part.kind = static_cast<PartKind>(kind);
  part.index = in.U32();
  part.item = in.U32();
  return part;
}

void PutCpu(Writer& out, const CpuModel& cpu) {
  out.Text(cpu.arch).Text(cpu.vendor).U32(cpu.family).U32(cpu.model).Text(cpu.name);
}
CpuModel TakeCpu(Reader& in) {
  CpuModel cpu;
  cpu.arch = in.Text(HostView::kNameBytesMax);
  cpu.vendor = in.Text(HostView::kNameBytesMax);
  cpu.family = in.U32();
  cpu.model = in.U32();
  cpu.name = in.Text(HostView::kNameBytesMax);
  return cpu;
}

void PutNuma(Writer& out, const NumaNode& node) {
  out.U32(node.id);
  Encode(out, node.cpus);
  out.U64(node.memory_bytes);
  PutMany(out, node.distances, [](Writer& to, std::uint32_t distance) { to.U32(distance); });
  out.U8(node.cpu ? 1 : 0);
  if (node.cpu) PutCpu(out, *node.cpu);
  PutOptional(out, node.host);
}
NumaNode TakeNuma(Reader& in) {
  NumaNode node;
  node.id = in.U32();
  node.cpus = DecodeCpuSet(in);
  node.memory_bytes = in.U64();
  TakeMany(in, node.distances, HostView::kNumaNodesMax, [](Reader& from) { return from.U32(); });
  if (TakeFlag(in)) node.cpu = TakeCpu(in);
  node.host = TakeOptional64(in);
  return node;
}

void PutClass(Writer& out, const std::optional<PciClass>& value) {
  PutOptional(out, value ? std::optional(value->code) : std::nullopt);
}
std::optional<PciClass> TakeClass(Reader& in) {
  const std::optional<std::uint32_t> code = TakeOptional32(in);
  if (code && *code > 0xffffff) in.Fail();
  return code ? std::optional(PciClass{*code}) : std::nullopt;
}

void PutPci(Writer& out, const PciDevice& device) {
  PutPart(out, device.parent);
  out.U64(device.bus.value);
  PutClass(out, device.device_class);
  out.U64(device.ids.packed()).Text(device.link_speed.text).U16(device.link_width);
  PutMany(out, device.peers, [](Writer& to, BusId peer) { to.U64(peer.value); });
}
PciDevice TakePci(Reader& in) {
  PciDevice device;
  device.parent = TakePart(in);
  device.bus = {in.U64()};
  device.device_class = TakeClass(in);
  const std::uint64_t ids = in.U64();
  device.ids = {static_cast<std::uint16_t>(ids >> 48), static_cast<std::uint16_t>(ids >> 32),
                static_cast<std::uint16_t>(ids >> 16), static_cast<std::uint16_t>(ids)};
  device.link_speed = PcieSpeed::Parse(in.Text(kSpeedBytesMax));
  device.link_width = in.U16();
  TakeMany(in, device.peers, HostView::kLinksMax, [](Reader& from) { return BusId{from.U64()}; });
  return device;
}

void PutLink(Writer& out, const GpuLink& link) {
  out.U8(static_cast<std::uint8_t>(link.kind));
  PutOptional(out, link.target ? std::optional(link.target->value) : std::nullopt);
  out.U32(link.count);
  PutClass(out, link.target_class);
}
GpuLink TakeLink(Reader& in) {
  GpuLink link;
  const std::uint8_t kind = in.U8();
  if (kind > static_cast<std::uint8_t>(GpuLinkKind::kXgmi)) in.Fail();
  link.kind = static_cast<GpuLinkKind>(kind);
  const std::optional<std::uint64_t> target = TakeOptional64(in);
  if (target) link.target = BusId{*target};
  link.count = in.U32();
  link.target_class = TakeClass(in);
  return link;
}

void PutGpu(Writer& out, const Gpu& gpu) {
  out.U32(gpu.pci).U32(gpu.compute_capability).Text(gpu.gcn);
  for (const auto& number : {gpu.dev, gpu.rank, gpu.mlopart, gpu.rccl_arch})
    PutOptional(out, number);
  PutOptional(out, gpu.gdr);
  PutMany(out, gpu.links, PutLink);
  PutMany(out, gpu.c2c,
          [](Writer& to, const C2cLink& c2c) { to.U32(c2c.mb_per_s).U32(c2c.count); });
  out.U8(gpu.fabric ? 1 : 0);
  if (gpu.fabric)
    out.U64(gpu.fabric->cluster[0]).U64(gpu.fabric->cluster[1]).U32(gpu.fabric->clique);
}
Gpu TakeGpu(Reader& in) {
  Gpu gpu;
  gpu.pci = in.U32();
  gpu.compute_capability = in.U32();
  gpu.gcn = in.Text(HostView::kNameBytesMax);
  for (auto* number : {&gpu.dev, &gpu.rank, &gpu.mlopart, &gpu.rccl_arch})
    *number = TakeOptional32(in);
  gpu.gdr = TakeOptionalBool(in);
  TakeMany(in, gpu.links, HostView::kLinksMax, TakeLink);
  TakeMany(in, gpu.c2c, HostView::kLinksMax, [](Reader& from) {
    C2cLink c2c;
    c2c.mb_per_s = from.U32();
    c2c.count = from.U32();
    return c2c;
  });
  if (TakeFlag(in)) {
    NvlinkFabric fabric;
    fabric.cluster[0] = in.U64();
    fabric.cluster[1] = in.U64();
    fabric.clique = in.U32();
    gpu.fabric = fabric;
  }
  return gpu;
}

void PutNet(Writer& out, const NetInterface& net) {
  out.Text(net.name).U8(static_cast<std::uint8_t>(net.kind)).Text(net.rdma_device);
  PutMany(out, net.members, [](Writer& to, const std::string& name) { to.Text(name); });
  for (const auto& number : {net.speed_mbit_per_s, net.numa, net.nic, net.dev, net.latency_ns,
                             net.port, net.max_connections, net.rail, net.plane})
    PutOptional(out, number);
  PutOptional(out, net.guid);
  for (const auto& flag : {net.gdr, net.collective, net.net_api, net.gin_api, net.rma_api})
    PutOptional(out, flag);
}
NetInterface TakeNet(Reader& in) {
  NetInterface net;
  net.name = in.Text(HostView::kNameBytesMax);
  const std::uint8_t kind = in.U8();
  if (kind > static_cast<std::uint8_t>(NetKind::kVlan)) in.Fail();
  net.kind = static_cast<NetKind>(kind);
  net.rdma_device = in.Text(HostView::kNameBytesMax);
  TakeMany(in, net.members, HostView::kLinksMax,
           [](Reader& from) { return from.Text(HostView::kNameBytesMax); });
  for (auto* number : {&net.speed_mbit_per_s, &net.numa, &net.nic, &net.dev, &net.latency_ns,
                       &net.port, &net.max_connections, &net.rail, &net.plane})
    *number = TakeOptional32(in);
  net.guid = TakeOptional64(in);
  for (auto* flag : {&net.gdr, &net.collective, &net.net_api, &net.gin_api, &net.rma_api})
    *flag = TakeOptionalBool(in);
  return net;
}

void PutUnknown(Writer& out, const HostView& view) {
  PutMany(out, view.unknown_attributes, [](Writer& to, const UnknownAttribute& attribute) {
    PutPart(to, attribute.part);
    to.Text(attribute.name).Text(attribute.value);
  });
  PutMany(out, view.unknown_elements, [](Writer& to, const UnknownElement& element) {
    PutPart(to, element.parent);
    to.Text(element.xml);
  });
}
void TakeUnknown(Reader& in, HostView& view) {
  TakeMany(in, view.unknown_attributes, HostView::kUnknownMax, [](Reader& from) {
    UnknownAttribute attribute;
    attribute.part = TakePart(from);
    attribute.name = from.Text(HostView::kNameBytesMax);
    attribute.value = from.Text(HostView::kUnknownBytesMax);
    return attribute;
  });
  TakeMany(in, view.unknown_elements, HostView::kUnknownMax, [](Reader& from) {
    UnknownElement element;
    element.parent = TakePart(from);
    element.xml = from.Text(HostView::kUnknownBytesMax);
    return element;
  });
}

}  // namespace

void Encode(Writer& out, const HostView& view) {
  out.U8(kFormat).Text(view.name).U64(view.identity).U32(view.version);
  PutCpu(out, view.cpu);
  PutMany(out, view.numa_nodes, PutNuma);
  PutMany(out, view.nets, PutNet);
  PutMany(out, view.pci, PutPci);
  PutMany(out, view.gpus, PutGpu);
  PutMany(out, view.nics, [](Writer& to, const Nic& nic) { PutPart(to, nic.parent); });
  PutUnknown(out, view);
}

HostView DecodeHostView(Reader& in) {
  HostView view;
  if (in.U8() != kFormat) in.Fail();
  view.name = in.Text(HostView::kNameBytesMax);
  view.identity = in.U64();
  view.version = in.U32();
  view.cpu = TakeCpu(in);
  TakeMany(in, view.numa_nodes, HostView::kNumaNodesMax, TakeNuma);
  TakeMany(in, view.nets, HostView::kNetsMax, TakeNet);
  TakeMany(in, view.pci, HostView::kPciMax, TakePci);
  TakeMany(in, view.gpus, HostView::kGpusMax, TakeGpu);
  TakeMany(in, view.nics, HostView::kNicsMax, [](Reader& from) { return Nic{TakePart(from)}; });
  TakeUnknown(in, view);
  if (in.ok() && !view.Check().ok()) in.Fail();
  return in.ok() ? view : HostView();
}

}  // namespace ringlet::topology
