#include "topology/host_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.hpp"

namespace ringlet::topology {
namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

void EncodeOptional(Writer& out, std::optional<std::uint32_t> value) {
  out.U32(value.value_or(kUnknown));
}

std::optional<std::uint32_t> DecodeOptional(Reader& in) {
  const std::uint32_t value = in.U32();
  return value == kUnknown ? std::nullopt : std::optional(value);
}

NumaNode DecodeNumaNode(Reader& in) {
  NumaNode node;
  node.id = in.U32();
  node.cpus = DecodeCpuSet(in);
  node.memory_bytes = in.U64();
  const std::size_t distances = in.U16();
  if (distances > HostView::kNumaNodesMax) in.Fail();
  for (std::size_t i = 0; i < distances && in.ok(); ++i) node.distances.push_back(in.U32());
  return node;
}

Error Refuse(std::string why) {
  return {Code::kInvalidArgument, std::move(why)};
}

bool TooLong(std::string_view name) {
  return name.size() > HostView::kNameBytesMax;
}

Status CheckNumaNodes(const std::vector<NumaNode>& nodes) {
  if (nodes.empty() || nodes.size() > HostView::kNumaNodesMax)
    return Refuse(fmt::format("a host has 1 to {} NUMA nodes, not {}", HostView::kNumaNodesMax,
                              nodes.size()));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].id == kUnknown || (i > 0 && nodes[i - 1].id >= nodes[i].id))
      return Refuse(fmt::format("NUMA node {} is out of order", nodes[i].id));
    const std::size_t distances = nodes[i].distances.size();
    if (distances != 0 && distances != nodes.size())
      return Refuse(fmt::format("NUMA node {} has {} distances to {} nodes", nodes[i].id, distances,
                                nodes.size()));
  }
  return Ok();
}

Status CheckNets(const HostView& view) {
  if (view.nets.size() > HostView::kNetsMax)
    return Refuse(fmt::format("{} network interfaces are too many", view.nets.size()));
  for (std::size_t i = 0; i < view.nets.size(); ++i) {
    const NetInterface& net = view.nets[i];
    if (net.name.empty() || TooLong(net.name) || (i > 0 && view.nets[i - 1].name >= net.name))
      return Refuse(fmt::format("network interface {} is out of order", i));
    const bool known = std::any_of(view.numa_nodes.begin(), view.numa_nodes.end(),
                                   [&](const NumaNode& node) { return node.id == net.numa; });
    if (net.numa && !known)
      return Refuse(fmt::format("network interface {} is at NUMA node {}, which the host lacks",
                                net.name, *net.numa));
    if (net.speed_mbit_per_s == kUnknown || net.speed_mbit_per_s == 0)
      return Refuse(fmt::format("network interface {} has no possible speed", net.name));
  }
  return Ok();
}

}  // namespace

Status HostView::Check() const {
  if (TooLong(name) || TooLong(cpu.arch) || TooLong(cpu.vendor) || TooLong(cpu.name))
    return Refuse(fmt::format("a name of the host has more than {} bytes", kNameBytesMax));
  RINGLET_TRY(CheckNumaNodes(numa_nodes));
  return CheckNets(*this);
}

std::uint64_t HostView::digest() const {
  HostView lasting = *this;
  lasting.cpu.name.clear();
  for (NumaNode& node : lasting.numa_nodes) node.memory_bytes = 0;
  Writer out;
  Encode(out, lasting);
  return DigestOf(out.view());
}

std::uint64_t HostIdentity(std::string_view host_name, std::string_view boot_id,
                           std::string_view host_id) {
  Writer out;
  if (host_id.empty()) {
    out.U8(0).Text(host_name).Text(boot_id);
  } else {
    out.U8(1).Text(host_id);
  }
  return std::max<std::uint64_t>(DigestOf(out.view()), 1);
}

void Encode(Writer& out, const HostView& view) {
  out.U8(kVersion).Text(view.name).U64(view.identity);
  out.Text(view.cpu.arch).Text(view.cpu.vendor).U32(view.cpu.family).U32(view.cpu.model);
  out.Text(view.cpu.name);
  out.U16(static_cast<std::uint16_t>(view.numa_nodes.size()));
  for (const NumaNode& node : view.numa_nodes) {
    out.U32(node.id);
    Encode(out, node.cpus);
    out.U64(node.memory_bytes).U16(static_cast<std::uint16_t>(node.distances.size()));
    for (const std::uint32_t distance : node.distances) out.U32(distance);
  }
  out.U16(static_cast<std::uint16_t>(view.nets.size()));
  for (const NetInterface& net : view.nets) {
    out.Text(net.name);
    EncodeOptional(out, net.speed_mbit_per_s);
    EncodeOptional(out, net.numa);
  }
}

HostView DecodeHostView(Reader& in) {
  HostView view;
  if (in.U8() != kVersion) in.Fail();
  view.name = in.Text(HostView::kNameBytesMax);
  view.identity = in.U64();
  view.cpu.arch = in.Text(HostView::kNameBytesMax);
  view.cpu.vendor = in.Text(HostView::kNameBytesMax);
  view.cpu.family = in.U32();
  view.cpu.model = in.U32();
  view.cpu.name = in.Text(HostView::kNameBytesMax);
  const std::size_t nodes = in.U16();
  if (nodes > HostView::kNumaNodesMax) in.Fail();
  for (std::size_t i = 0; i < nodes && in.ok(); ++i) view.numa_nodes.push_back(DecodeNumaNode(in));
  const std::size_t nets = in.U16();
  if (nets > HostView::kNetsMax) in.Fail();
  for (std::size_t i = 0; i < nets && in.ok(); ++i) {
    NetInterface net;
    net.name = in.Text(HostView::kNameBytesMax);
    net.speed_mbit_per_s = DecodeOptional(in);
    net.numa = DecodeOptional(in);
    view.nets.push_back(std::move(net));
  }
  if (in.ok() && !view.Check().ok()) in.Fail();
  return in.ok() ? view : HostView();
}

}  // namespace ringlet::topology
