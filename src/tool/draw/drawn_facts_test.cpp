#include "tool/draw/drawn_facts.hpp"

#include <gmock/gmock.h>

#include "topo/edit/synthetic.hpp"

namespace ringlet::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using topology::Graph;
using topology::NodeIndex;
using topology::NodeKind;
using topology::PartKind;
using topology::Severity;

topology::HostView MachineForTest() {
  return topology::ParseSynthetic("2x(numa: (switch: 2 gpu a100-sxm4 switch, 1 nic 200g))").value();
}

Graph GraphFor(const topology::HostView& view) {
  return topology::Build({&view, 1}, {}, {.gpus = topology::GpuRanks::kAll}).value();
}

const topology::BusId& BusOf(const topology::HostView& view, std::size_t gpu) {
  return view.pci[view.gpus[gpu].pci].bus;
}

NodeIndex DeviceAt(const Graph& graph, const topology::BusId& bus) {
  for (const NodeIndex node : graph.NodesOf(graph.systems()[0], NodeKind::kDev))
    if (graph.device(node).bus == bus) return node;
  ADD_FAILURE() << "no device at " << ToString(bus);
  return {};
}

TEST(DrawnFactsTest, PcieFactsAreThoseOfTheFunction) {
  topology::HostView view = MachineForTest();
  topology::PciDevice& own = view.pci[view.gpus[1].pci];
  own.link_speed = topology::PcieSpeed::Of(5);
  own.link_width = 8;
  const Graph graph = GraphFor(view);
  const DrawnFacts facts = FactsOf(graph, view, {});
  EXPECT_EQ(facts.at(DeviceAt(graph, own.bus)).pcie, "gen5 x8");
  view.pci[view.gpus[1].pci].link_speed = {};
  EXPECT_EQ(FactsOf(graph, view, {}).at(DeviceAt(graph, own.bus)).pcie, "x8");
}

TEST(DrawnFactsTest, ANodeShowsItsWorstDefect) {
  const topology::HostView view = MachineForTest();
  const Graph graph = GraphFor(view);
  const topology::Defect defects[] = {
      {.rule = &topology::DefectRuleOf("gpu-pcie"),
       .part = {PartKind::kGpu, 2},
       .reason = "slower than its peers",
       .severity = Severity::kError},
      {.rule = &topology::DefectRuleOf("gpu-gdr"),
       .part = {PartKind::kGpu, 2},
       .reason = "no GPUDirect",
       .severity = Severity::kWarning},
      {.rule = &topology::DefectRuleOf("gpu-missing"), .reason = "one is missing"},
  };
  const DrawnFacts facts = FactsOf(graph, view, defects);
  const NodeFacts& own = facts.at(DeviceAt(graph, BusOf(view, 2)));
  EXPECT_EQ(own.severity, Severity::kError);
  EXPECT_TRUE(own.link_is_worst);
  EXPECT_THAT(own.sentences,
              testing::ElementsAre("error: slower than its peers", "warning: no GPUDirect"));
  std::size_t marked = 0;
  for (const auto& [node, one] : facts) marked += one.severity.has_value();
  EXPECT_EQ(marked, 1u) << "the whole machine has no node";
}

TEST(DrawnFactsTest, PortsShowBondsAndUnknownRates) {
  topology::HostView view = MachineForTest();
  view.nets[0].members = {"eth0", "eth1"};
  view.nets[1].speed_mbit_per_s = std::nullopt;
  const Graph graph = GraphFor(view);
  std::size_t unknown = 0;
  std::vector<std::string> states, sentences;
  for (const auto& [node, one] : FactsOf(graph, view, {})) {
    if (!one.state.empty()) states.push_back(one.state);
    unknown += one.rate_is_unknown;
    sentences.insert(sentences.end(), one.sentences.begin(), one.sentences.end());
  }
  EXPECT_THAT(states, testing::ElementsAre("bond of 2"));
  EXPECT_EQ(unknown, 1u);
  EXPECT_THAT(sentences, Contains(HasSubstr("a bond of eth0, eth1")));
  EXPECT_THAT(sentences, Contains(HasSubstr("unknown rate")));
}

TEST(DrawnFactsTest, DistinguishesEqualAddressesOnTwoHosts) {
  topology::HostView view = MachineForTest();
  view.numa_nodes[1].host = 77;
  const std::uint32_t far = view.gpus[3].pci;
  view.pci[far].bus = BusOf(view, 0);  // gives two hosts the same address
  view.pci[far].link_speed = topology::PcieSpeed::Of(3);
  view.pci[view.gpus[0].pci].link_speed = topology::PcieSpeed::Of(4);
  const auto graph = topology::Build({&view, 1}, {}, {.gpus = topology::GpuRanks::kAll});
  ASSERT_TRUE(graph.ok()) << graph.error().message;
  std::vector<std::string> pcie;
  const DrawnFacts facts = FactsOf(*graph, view, {});
  for (const NodeIndex node : graph->NodesOf(graph->systems()[0], NodeKind::kDev))
    if (graph->device(node).bus == BusOf(view, 0)) pcie.push_back(facts.at(node).pcie.substr(0, 4));
  EXPECT_THAT(pcie, testing::UnorderedElementsAre("gen4", "gen3"));
}

}  // namespace
}  // namespace ringlet::cli
