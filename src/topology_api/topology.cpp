#include "ringlet/topology.hpp"

#include <algorithm>
#include <utility>

#include "discovery/pci_tree.hpp"
#include "os/fs/file_tree.hpp"
#include "topo/edit/synthetic.hpp"
#include "topo/lint/lint.hpp"
#include "topo/paths/labels.hpp"
#include "topology/graph/port_rules.hpp"
#include "topology/xml/xml_reader.hpp"
#include "topology/xml/xml_writer.hpp"
#include "topology_api/contents.hpp"
#include "topology_api/named_file.hpp"
#include "topology_api/this_host.hpp"

namespace ringlet::topology {
namespace {

/// Returns true if a NIC of the host has this address. The id of a NIC without a PCI function is
/// not an address.
bool HasNicAt(const HostView& view, BusId bus) {
  return std::ranges::any_of(view.nics, [&](const Nic& nic) {
    return nic.parent.kind == PartKind::kPci && view.pci[nic.parent.index].bus == bus;
  });
}

std::string BusOf(const HostPaths& host, NodeIndex node) {
  const Graph& graph = *host.graph;
  if (graph.at(node).kind == NodeKind::kGpu)
    return ToString(graph.device(graph.gpu(node).device).bus);
  // A port has the address of its NIC.
  for (const Link& link : graph.at(node).links)
    if (const BusId bus{graph.at(link.to).id};
        graph.at(link.to).kind == NodeKind::kNic && HasNicAt(host.view, bus))
      return ToString(bus);
  return "";
}

Device::Type TypeOf(NodeKind kind) {
  if (kind == NodeKind::kGpu) return Device::Type::kGpu;
  return kind == NodeKind::kCpu ? Device::Type::kProcessor : Device::Type::kPort;
}

}  // namespace

std::string TextOf(const Finding& finding) {
  return ToText(finding);
}

Result<Topology> Topology::Load(const std::string& path) {
  RINGLET_TRY_ASSIGN(const std::string text, ReadNamedFile(path, kXmlBytesMax));
  return Parse(text, path);
}

Result<Topology> Topology::Parse(std::string_view text, std::string name) {
  LintReport report = LintXml(text, name);
  if (!report.view) return ViewFromXml(text, name).error();
  return Topology(std::make_shared<Contents>(Contents{.name = std::move(name),
                                                      .view = *std::move(report.view),
                                                      .positions = std::move(report.positions),
                                                      .findings = std::move(report.findings)}));
}

Result<Topology> Topology::Describe(std::string_view words) {
  RINGLET_TRY_ASSIGN(HostView view, ParseSynthetic(words));
  std::vector<Finding> findings = topology::Lint(view, {}, {});
  return Topology(std::make_shared<Contents>(Contents{
      .name = std::string(words), .view = std::move(view), .findings = std::move(findings)}));
}

Result<Topology> Topology::Detect() {
  RINGLET_TRY_ASSIGN(ThisHost host, ReadThisHost({}));
  std::vector<Finding> findings = topology::Lint(host.view, {}, {});
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open("/"));
  return Topology(std::make_shared<Contents>(Contents{.name = "this machine",
                                                      .view = std::move(host.view),
                                                      .findings = std::move(findings),
                                                      .links = discovery::ReadLinkStates(files),
                                                      .missing = std::move(host.missing)}));
}

const std::string& Topology::name() const {
  return contents_->name;
}

const std::vector<std::string>& Topology::missing() const {
  return contents_->missing;
}

std::string Topology::ToXml() const {
  return topology::ToXml(contents_->view);
}

Result<std::vector<Device>> Topology::Devices() const {
  RINGLET_TRY_ASSIGN(const HostPaths host, PlannedPathsOf(*this, {}));
  std::vector<Device> devices;
  for (const NodeIndex node : DeviceNodesOf(host.paths))
    devices.push_back(
        {TypeOf(host.graph->at(node).kind), LabelOf(*host.graph, node), BusOf(host, node)});
  return devices;
}

std::vector<Finding> Lint(std::string_view text, std::string_view name) {
  return LintXml(text, name).findings;
}

std::vector<Finding> Lint(const Topology& topology) {
  return topology.contents().findings;
}

Result<HostPaths> PlannedPathsOf(const Topology& topology, const PathRules& rules) {
  RINGLET_TRY_ASSIGN(PlannedPorts ports, ApplyPortRules(topology.contents().view, {}));
  return FindHostPaths(std::move(ports.view),
                       {.rules = rules.as_nccl ? Rules::kNccl : Rules::kRinglet,
                        .denies_peer_access = false,
                        .paths = {.as_wired = rules.as_wired}});
}

std::vector<NodeIndex> DeviceNodesOf(const Paths& paths) {
  std::vector<NodeIndex> nodes;
  for (const NodeKind kind : {NodeKind::kGpu, NodeKind::kNet, NodeKind::kCpu})
    nodes.insert(nodes.end(), paths.Of(kind).begin(), paths.Of(kind).end());
  return nodes;
}

double GigabytesOf(Bandwidth bandwidth) {
  return static_cast<double>(bandwidth.mb_per_s) / 1000;
}

}  // namespace ringlet::topology
