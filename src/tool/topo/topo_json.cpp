#include "tool/topo/topo_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tool/text/json_text.hpp"
#include "tool/topo/topo_paths.hpp"
#include "tool/topo/topo_tree.hpp"
#include "topology/graph/bandwidth.hpp"

namespace ringlet::cli {
namespace {

using Json = nlohmann::ordered_json;
using topology::HostView;
using topology::Part;
using topology::PartKind;

template <typename T>
void PutIfKnown(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

std::string NumaLabel(const topology::NumaNode& node) {
  return node.id == topology::kUnknownNuma ? "NUMA-1" : fmt::format("NUMA{}", node.id);
}

std::string LabelOfPart(const HostView& view, Part part) {
  return part.kind == PartKind::kPci ? ToString(view.pci[part.index].bus)
                                     : NumaLabel(view.numa_nodes[part.index]);
}

Json NumaJson(const HostView& view, const topology::NumaNode& node) {
  Json json{{"name", NumaLabel(node)}};
  if (!node.cpus.empty()) json["cpus"] = ToString(node.cpus);
  if (node.memory_bytes != 0) json["memory_bytes"] = node.memory_bytes;
  if (!view.ModelOf(node).name.empty()) json["processor"] = view.ModelOf(node).name;
  return json;
}

Json PciJson(const HostView& view, const topology::PciDevice& device) {
  Json json{{"bus", ToString(device.bus)}, {"below", LabelOfPart(view, device.parent)}};
  if (device.device_class) json["role"] = RoleName(device.device_class->role());
  if (device.link_speed.generation == 0) return json;
  json["pcie_generation"] = device.link_speed.generation;
  if (device.link_width != 0) json["lanes"] = device.link_width;
  constexpr std::uint32_t kLanesTaken = 16;  // default for an unknown number, as in NCCL
  const std::uint32_t lanes = device.link_width == 0 ? kLanesTaken : device.link_width;
  json["mb_per_s"] = topology::PcieLink(device.link_speed, lanes).mb_per_s;
  return json;
}

Json GpuLinkJson(const topology::Gpu& gpu, const topology::GpuLink& link) {
  const bool xgmi = link.kind == topology::GpuLinkKind::kXgmi;
  const topology::Bandwidth one =
      xgmi ? topology::XgmiLink(gpu.gcn) : topology::NvLink(gpu.compute_capability);
  Json json{{"kind", xgmi ? "xGMI" : "NVLink"},
            {"count", link.count},
            {"mb_per_s", topology::Times(one, link.count).mb_per_s}};
  if (link.target) json["to"] = ToString(*link.target);
  if (link.target_class) json["to_role"] = RoleName(link.target_class->role());
  return json;
}

Json GpuJson(const HostView& view, const topology::Gpu& gpu) {
  Json json{{"bus", ToString(view.pci[gpu.pci].bus)}};
  PutIfKnown(json, "device", gpu.dev);
  PutIfKnown(json, "rank", gpu.rank);
  PutIfKnown(json, "half", gpu.mlopart);
  if (const std::string text = ArchitectureText(gpu.gcn, gpu.compute_capability); !text.empty())
    json["architecture"] = text;
  PutIfKnown(json, "gpudirect_rdma", gpu.gdr);
  json["links"] = Json::array();
  for (const topology::GpuLink& link : gpu.links) json["links"].push_back(GpuLinkJson(gpu, link));
  for (const topology::C2cLink& link : gpu.c2c)
    json["links"].push_back({{"kind", "C2C"},
                             {"count", link.count},
                             {"mb_per_s", std::uint64_t{link.mb_per_s} * link.count}});
  return json;
}

Json NetJson(const HostView& view, std::uint32_t index) {
  const topology::NetInterface& net = view.nets[index];
  Json json{{"name", net.name}};
  if (net.nic) {
    json["below"] = LabelOfPart(view, view.nics[*net.nic].parent);
  } else if (const auto numa = view.NumaIndexOf({PartKind::kNet, index})) {
    json["below"] = NumaLabel(view.numa_nodes[*numa]);
  }
  if (!net.rdma_device.empty()) json["rdma_device"] = net.rdma_device;
  PutIfKnown(json, "mbit_per_s", net.speed_mbit_per_s);
  PutIfKnown(json, "device", net.dev);
  PutIfKnown(json, "port", net.port);
  if (!net.net_api.value_or(true)) json["used"] = false;
  PutIfKnown(json, "gpudirect_rdma", net.gdr);
  PutIfKnown(json, "rail", net.rail);
  if (!net.members.empty()) json["members"] = net.members;
  return json;
}

}  // namespace

std::string ViewJson(const HostView& view) {
  Json json{{"name", view.name},           {"arch", view.cpu.arch}, {"processor", view.cpu.name},
            {"numa_nodes", Json::array()}, {"pci", Json::array()},  {"gpus", Json::array()},
            {"nets", Json::array()}};
  for (const topology::NumaNode& node : view.numa_nodes)
    json["numa_nodes"].push_back(NumaJson(view, node));
  for (const topology::PciDevice& device : view.pci) json["pci"].push_back(PciJson(view, device));
  for (const topology::Gpu& gpu : view.gpus) json["gpus"].push_back(GpuJson(view, gpu));
  for (std::uint32_t i = 0; i < view.nets.size(); ++i) json["nets"].push_back(NetJson(view, i));
  return JsonText(json);
}

}  // namespace ringlet::cli
