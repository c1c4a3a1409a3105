#include "tool/plan/plan_view.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>

#include "os/clock.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "plan/routes/channel_ways.hpp"
#include "ringlet/topology.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;
using topology::NodeIndex;
using topology::NodeKind;

PlanRequest For(const std::string& file, std::uint32_t hosts) {
  PlanRequest request;
  request.machine.source.file = Fixture(file);
  request.hosts = hosts;
  return request;
}

TEST(PlanViewTest, TwelveThousandHostsCostOneSearch) {
  const PlanView view = MakePlanView(For("topo-vectors/nvswitch8-sm90.xml", 12'500), {}).value();
  EXPECT_EQ(view.classes.size(), 1u);
  EXPECT_EQ(view.ranks(), 100'000u);
  EXPECT_LT(view.joined.plan.bytes(), 20'000u);
  EXPECT_TRUE(view.joined.plan.Check().ok());
}

TEST(PlanViewTest, PlansTheChannelsOfTheLibraryOfTopologies) {
  for (const char* const file :
       {"topo-vectors/nvswitch8-sm90.xml", "topo-vectors/pcie16-4persw.xml",
        "topo-vectors/pcie4-1nic.xml", "topologies/nvidia/perlmutter_a100_nid001056.topo.xml",
        "topologies/nvidia/dgx_a100_keysight.topo.xml", "topologies/nvidia/ucb_dgx1v.topo.xml"})
    for (const std::uint32_t hosts : {1u, 3u})
      for (const bool as_nccl : {false, true}) {
        PlanRequest request = For(file, hosts);
        request.policy = as_nccl ? plan::Policy::kCompat : plan::Policy::kBest;
        const PlanView view = MakePlanView(request, {}).value();
        const topology::RankChannels channels =
            PlanChannels(topology::Topology::Load(Fixture(file)).value(),
                         {.hosts = hosts, .as_nccl = as_nccl})
                .value();
        EXPECT_EQ(channels.digest, view.joined.plan.digest())
            << file << ", " << hosts << " hosts, as NCCL: " << as_nccl;
      }
}

TEST(PlanViewTest, TheSearchTimeLiesWithinTheCall) {
  const Instant start = os::Now();
  const PlanView view = MakePlanView(For("topo-vectors/pcie16-4persw.xml", 2), {}).value();
  Instant searches{0};
  for (const NodeView& node : view.nodes) searches += node.search_time;
  EXPECT_GT(searches, Instant(0));
  EXPECT_LE(searches, os::Now() - start);
}

TEST(PlanViewTest, NumbersGpusWithinTheirNode) {
  const PlanView view = MakePlanView(For("topo-vectors/pcie16-4persw.xml", 2), {}).value();
  ASSERT_EQ(view.classes.size(), 2u) << "a host that is two nodes";
  for (const plan::NodeClass& node : view.classes)
    EXPECT_THAT(node.locals, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(view.joined.plan.node_count(), 4u) << "two on each of two hosts";
  EXPECT_EQ(view.ranks(), 32u);
}

TEST(PlanViewTest, ReadsTheVariables) {
  const PlanRequest request = For("topo-vectors/nvswitch8-sm90.xml", 2);
  EXPECT_EQ(MakePlanView(request, {{"NCCL_MAX_NCHANNELS", "3"}})->joined.plan.channel_count(), 3u);
  EXPECT_THAT(MakePlanView(request, {{"RINGLET_MIN_NCHANNELS", "65"}}).error().message,
              HasSubstr("RINGLET_MIN_NCHANNELS"));
  const PlanView view = MakePlanView(request, {}).value();
  EXPECT_THAT(TuningInputOf(view, {{"RINGLET_ALGO", "wheel"}}).error().message,
              HasSubstr("\"wheel\""));
}

TEST(PlanViewTest, TheModelReceivesTheFactsOfTheMachine) {
  const PlanView view = MakePlanView(For("topo-vectors/nvswitch8-sm80-amd.xml", 2), {}).value();
  const plan::TuningInput input = TuningInputOf(view, {}).value();
  EXPECT_EQ(input.ranks, 16u);
  EXPECT_EQ(input.nodes, 2u);
  EXPECT_EQ(input.capability_min, 80u);
  EXPECT_TRUE(input.amd && input.amd_or_mixed && input.nvswitch);
  EXPECT_FALSE(input.power);
  EXPECT_EQ(input.nvls_heads, 0u) << "NVSwitches sum from sm 90 on";
}

TEST(PlanViewTest, TheModelReceivesNvlsHeadsAndProcessorFacts) {
  const PlanView sums = MakePlanView(For("topo-vectors/nvswitch8-sm90.xml", 2), {}).value();
  const plan::TuningInput input = TuningInputOf(sums, {}).value();
  EXPECT_EQ(input.nvls_heads, 8u);
  EXPECT_EQ(input.node_ranks_max, 8u);
  EXPECT_FALSE(input.amd || input.amd_or_mixed);
  const PlanView none = MakePlanView(For("topo-vectors/pcie4-1nic.xml", 1), {}).value();
  EXPECT_FALSE(TuningInputOf(none, {})->nvswitch);
  PlanRequest mixed = For("topo-vectors/nvswitch8-sm80-amd.xml", 1);
  mixed.others = {Fixture("topo-vectors/nvswitch8-sm90.xml") + "*2"};
  const plan::TuningInput both = TuningInputOf(MakePlanView(mixed, {}).value(), {}).value();
  EXPECT_TRUE(both.amd_or_mixed);
  EXPECT_FALSE(both.amd) << "not all of them";
  EXPECT_EQ(both.ranks, 24u);
  EXPECT_EQ(both.capability_min, 80u);
  EXPECT_EQ(both.capability_max, 90u);
}

/// Returns the load on each link of a node from the routes of its channels.
std::map<std::pair<NodeIndex, NodeIndex>, std::int64_t> LoadsOf(const NodeView& node,
                                                                const plan::PatternGraph& graph) {
  std::map<std::pair<NodeIndex, NodeIndex>, std::int64_t> loads;
  const std::int64_t width =
      graph.total().mb_per_s / static_cast<std::int64_t>(graph.channels.size());
  const auto node_of = [&](plan::EndIndex end) {
    return node.paths.Of(end.end == plan::End::kNet ? NodeKind::kNet : NodeKind::kGpu)[end.number];
  };
  for (const plan::LocalChannel& channel : graph.channels)
    plan::ForEachRoute(
        graph.pattern, channel, [&](plan::EndIndex from, plan::EndIndex to, bool half) {
          for (const topology::Hop& hop : node.paths.Route(node_of(from), node_of(to)))
            loads[{hop.from, hop.to}] += half ? width / 2 : width;
          return true;
        });
  return loads;
}

// The rate of a tree counts each link in one direction. An all-reduce sends half of it up and half
// of it down, so no link exceeds the sum of both directions either.
TEST(PlanViewTest, LinksDoNotCarryMoreThanTheirBandwidth) {
  for (const char* const file :
       {"topologies/amd/topo_8p_rome.topo.xml", "topologies/amd/topo_4p3l_ia.topo.xml",
        "topologies/nvidia/ucb_dgx1v.topo.xml",
        "topologies/nvidia/perlmutter_a100_nid001056.topo.xml", "topo-vectors/pcie4-1nic.xml"})
    for (const std::uint32_t hosts : {1u, 2u})
      for (const plan::Policy policy : {plan::Policy::kBest, plan::Policy::kCompat}) {
        PlanRequest request;
        request.machine.source.file = Fixture(file);
        request.hosts = hosts;
        request.policy = policy;
        const PlanView view = MakePlanView(request, {}).value();
        for (const plan::GraphId id : {plan::GraphId::kRing, plan::GraphId::kTree}) {
          const plan::PatternGraph& graph = view.classes[0].plan.of(id);
          ASSERT_FALSE(graph.channels.empty()) << file;
          if (graph.stopped == plan::StopReason::kFallback) continue;
          for (const auto& [ends, load] : LoadsOf(view.nodes[0], graph))
            for (const topology::Link& link : view.nodes[0].graph->at(ends.first).links) {
              if (link.to != ends.second || link.kind == topology::LinkKind::kLocal) continue;
              EXPECT_LE(load, link.bandwidth.mb_per_s)
                  << file << ", " << hosts << " hosts, " << NameOf(id) << ", "
                  << NcclName(*view.nodes[0].graph, ends.first) << " to "
                  << NcclName(*view.nodes[0].graph, ends.second);
            }
        }
      }
}

/// Two switches, each at its own NUMA node, with two GPUs in an NVLink pair and a NIC.
std::string IslandsXml() {
  std::string xml = "<system version=\"1\">";
  for (int i = 0; i < 2; ++i) {
    const auto function = [&](int bus, const char* code, const std::string& inside) {
      return fmt::format(
          "<pci busid=\"0000:{:02x}:00.0\" class=\"{}\" link_width=\"16\" "
          "link_speed=\"32.0 GT/s PCIe\">{}</pci>",
          0x10 + 0x40 * i + bus, code, inside);
    };
    const auto gpu = [&](int bus, int other) {
      return function(
          bus, "0x030200",
          fmt::format("<gpu dev=\"{0}\" sm=\"90\" rank=\"{0}\" gdr=\"1\"><nvlink target="
                      "\"0000:{1:02x}:00.0\" count=\"18\" tclass=\"0x030200\"/></gpu>",
                      2 * i + bus - 1, 0x10 + 0x40 * i + other));
    };
    const std::string nic = fmt::format(
        "<nic><net name=\"ib{0}\" dev=\"{0}\" speed=\"400000\" port=\"1\" guid=\"0x{1}\" "
        "gdr=\"1\"/></nic>",
        i, i + 1);
    xml += fmt::format(
        "<cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" "
        "modelid=\"143\">{}</cpu>",
        i, function(0, "0x060400", gpu(1, 2) + gpu(2, 1) + function(3, "0x020000", nic)));
  }
  return xml + "</system>";
}

TEST(PlanViewTest, IslandsOnIsolatedRailsUseOnlyCommonRails) {
  os::TempTree tree;
  tree.Write("islands.xml", IslandsXml());
  const auto planned = [&](std::optional<std::uint8_t> cross_nic, std::uint32_t channels = 0) {
    PlanRequest request;
    request.channels = channels;
    request.machine.source.file = tree.root() + "/islands.xml";
    request.hosts = 2;
    request.cross_nic = cross_nic;
    return MakePlanView(request, {});
  };
  const auto full = planned(1);
  ASSERT_TRUE(full.ok()) << full.error().message;
  EXPECT_EQ(full->nodes.size(), 2u) << "two islands";
  const auto rails = planned(0);
  ASSERT_TRUE(rails.ok()) << rails.error().message;
  EXPECT_EQ(rails->joined.of(plan::GraphId::kRing).channels, 2u);
  EXPECT_FALSE(rails->joined.shortfalls.empty());
  for (const plan::GraphId id : {plan::GraphId::kRing, plan::GraphId::kTree})
    for (std::size_t channel = 0; channel < 2; ++channel) {
      const auto nic = [&](std::size_t island) {
        return rails->classes[island].plan.of(id).channels[channel].entry;
      };
      EXPECT_EQ(nic(0), nic(1)) << channel;
    }
  const auto refused = planned(0, 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message,
              testing::AllOf(HasSubstr("NICs of different rails do not reach each other"),
                             HasSubstr("counts as 2 nodes")));
}

}  // namespace
}  // namespace ringlet::cli
