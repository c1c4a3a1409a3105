#include "plan/policy/host_search.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/value/digest.hpp"
#include "plan/channels/machine_for_test.hpp"

namespace ringlet::plan {
namespace {

TEST(HostSearchTest, AHostWithoutRanksIsRefused) {
  const MachineForTest machine("(switch: 1 nic)");
  const Result<HostPlan> plan = SearchHost(machine.paths(), {});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, Code::kUnsupported);
}

TEST(HostSearchTest, RingsAndTreesHaveTheirBestChannelCounts) {
  const MachineForTest machine("8 gpu h100-sxm5 switch");
  const HostPlan compat = SearchHost(machine.paths(), {.policy = Policy::kCompat}).value();
  const HostPlan best = SearchHost(machine.paths(), {.policy = Policy::kBest}).value();
  EXPECT_EQ(compat.devices, 8u);
  EXPECT_EQ(compat.of(GraphId::kRing).channels.size(), 12u);
  EXPECT_EQ(compat.of(GraphId::kTree).channels.size(), 12u) << "as many as rings, with NCCL";
  EXPECT_EQ(best.of(GraphId::kRing).channels.size(), 12u);
  // Each GPU ends equally many trees.
  EXPECT_EQ(best.of(GraphId::kTree).channels.size() % 8, 0u);
  EXPECT_EQ(best.of(GraphId::kRing).total(), best.of(GraphId::kRing).bound);
  EXPECT_GE(best.of(GraphId::kTree).total().mb_per_s + best.of(GraphId::kTree).channels.size(),
            best.of(GraphId::kTree).bound.mb_per_s);
  for (const HostPlan* const plan : {&compat, &best}) {
    EXPECT_EQ(plan->of(GraphId::kNvls).channels.size(), 8u);
    EXPECT_TRUE(plan->of(GraphId::kCollnetChain).channels.empty());
  }
}

TEST(HostSearchTest, ASingleGpuHasARing) {
  const MachineForTest machine("1 gpu");
  EXPECT_FALSE(SearchHost(machine.paths(), {}).value().of(GraphId::kRing).channels.empty());
}

TEST(HostSearchTest, BestObeysTheMaximumNumberOfChannels) {
  const MachineForTest machine("(switch: 4 gpu)");
  const auto ring = [&](SearchOptions options) {
    return SearchHost(machine.paths(), options).value().of(GraphId::kRing);
  };
  const PatternGraph free = ring({});
  for (const std::uint32_t most : {1u, 2u}) {
    const PatternGraph found = ring({.channels_max = most});
    EXPECT_LE(found.channels.size(), most);
    EXPECT_EQ(found.total(), free.total()) << "no channel of many is missed";
  }
  EXPECT_EQ(ring({.policy = Policy::kCompat, .channels_max = 1}),
            ring({.policy = Policy::kCompat}));
}

TEST(HostSearchTest, BestReachesTheMinimumChannelsWithTheSameBandwidth) {
  const MachineForTest machine("(switch: 4 gpu)");
  const HostPlan free = SearchHost(machine.paths(), {}).value();
  const HostPlan many = SearchHost(machine.paths(), {.channels_min = 8}).value();
  EXPECT_GE(many.of(GraphId::kRing).channels.size(), 8u);
  for (const GraphId id : {GraphId::kRing, GraphId::kTree})
    EXPECT_GE(many.of(id).total().mb_per_s + many.of(id).channels.size(),
              free.of(id).total().mb_per_s);
}

TEST(HostSearchTest, NvlsCanBeLeftOut) {
  const MachineForTest machine("8 gpu h100-sxm5 switch");
  EXPECT_TRUE(
      SearchHost(machine.paths(), {.nvls = false}).value().of(GraphId::kNvls).channels.empty());
}

TEST(HostSearchTest, CollnetIsSearchedOnRequest) {
  const MachineForTest machine("(switch: 2 gpu, 1 nic)");
  std::vector<SearchTrace> search_traces;
  SearchOptions options;
  options.multi_node = options.collnet = true;
  const HostPlan plan = SearchHost(machine.paths(), options, &search_traces).value();
  EXPECT_TRUE(plan.of(GraphId::kCollnetChain).channels.empty()) << "the NIC does not reduce";
  EXPECT_FALSE(search_traces.empty());
}

topology::HostView TwoNodes() {
  topology::HostView view;
  view.name = "host";
  view.identity = 1;
  view.cpu.arch = "x86_64";
  view.cpu.vendor = "GenuineIntel";
  view.cpu.family = 6;
  view.cpu.model = 0x55;
  view.numa_nodes.push_back({0, topology::CpuSet::Of(0, 3), 0, {}});
  view.numa_nodes.push_back({1, topology::CpuSet::Of(4, 7), 0, {}});
  view.nets.push_back({"eth0", 25'000, 0});
  view.nets.push_back({"eth1", 100'000, 1});
  return view;
}

TEST(HostSearchTest, RanksInCpuMemoryHaveRings) {
  const topology::HostView view = TwoNodes();
  const std::vector<topology::RankPlace> places = {
      {Rank{0}, 0, 0}, {Rank{1}, 0, 0}, {Rank{2}, 0, 1}, {Rank{3}, 0, 1}};
  const topology::Graph graph = topology::Build({&view, 1}, places).value();
  const topology::Paths paths = topology::FindPaths(graph, 0, {}).value();
  for (const bool multi_node : {false, true}) {
    const HostPlan plan = SearchHost(paths, {.multi_node = multi_node}).value();
    const PatternGraph& ring = plan.of(GraphId::kRing);
    ASSERT_FALSE(ring.channels.empty());
    EXPECT_EQ(ring.channels[0].devices.size(), 4u);
    EXPECT_EQ(ring.channels[0].entry.has_value(), multi_node);
    EXPECT_LE(ring.total(), ring.bound) << ToText(ring);
    EXPECT_NE(ring.stopped, StopReason::kFallback) << ToText(ring);
  }
}

TEST(HostSearchTest, RingsInCpuMemoryVisitNumaNodesOnce) {
  const topology::HostView view = TwoNodes();
  const std::vector<topology::RankPlace> places = {
      {Rank{0}, 0, 0}, {Rank{1}, 0, 1}, {Rank{2}, 0, 0}, {Rank{3}, 0, 1}};
  const topology::Graph graph = topology::Build({&view, 1}, places).value();
  const topology::Paths paths = topology::FindPaths(graph, 0, {}).value();
  const auto& ranks = paths.Of(topology::NodeKind::kRank);
  const HostPlan plan = SearchHost(paths, {}).value();
  for (const LocalChannel& channel : plan.of(GraphId::kRing).channels) {
    int crossings = 0;
    for (std::size_t i = 0; i < 4; ++i)
      crossings += graph.at(ranks[channel.devices[i]]).number % 2 !=
                   graph.at(ranks[channel.devices[(i + 1) % 4]]).number % 2;
    EXPECT_EQ(crossings, 2) << ToText(plan.of(GraphId::kRing));
  }
}

TEST(HostSearchTest, CompatComputesItsBoundOnRequest) {
  const MachineForTest machine("2x(numa: 1x(switch: 2 gpu, 1 nic 10g))");
  for (const bool multi_node : {false, true}) {
    const SearchOptions plain{.policy = Policy::kCompat, .multi_node = multi_node};
    SearchOptions reported = plain;
    reported.bounds = true;
    const HostPlan without = SearchHost(machine.paths(), plain).value();
    const HostPlan with = SearchHost(machine.paths(), reported).value();
    for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
      EXPECT_EQ(without.of(id).bound.mb_per_s, 0u);
      EXPECT_GT(with.of(id).bound.mb_per_s, 0u);
      EXPECT_EQ(without.of(id).channels, with.of(id).channels);
      EXPECT_EQ(without.of(id).total(), with.of(id).total());
    }
  }
}

std::string SearchTraceText(const std::vector<SearchTrace>& search_traces) {
  std::string text;
  for (const SearchTrace& search_trace : search_traces)
    for (const StepOutcome& one : search_trace.search_steps)
      text += fmt::format(
          "{}: {} {}/{} MB/s {}/{} same {} cross {} of {} to {}: {}{}{}{}{}{} of {} after {}, {} "
          "{}\n",
          NameOf(search_trace.id), NameOf(one.search_step.pattern), one.search_step.intra_mb_per_s,
          one.search_step.inter_mb_per_s, NameOf(one.search_step.type_intra),
          NameOf(one.search_step.type_inter), one.search_step.same_channels,
          one.search_step.cross_nic, one.search_step.min_channels, one.search_step.max_channels,
          one.channels, one.improved ? " better" : "", one.perfect ? " perfect" : "",
          one.budget_out ? " no budget" : "", one.repeated ? " again" : "",
          one.hopeless ? " hopeless" : "", one.divided_of.mb_per_s, one.steps,
          static_cast<int>(one.refusal), one.link ? search_trace.links.at(*one.link) : "");
  return text;
}

/// A summary of the result, and a digest of all details.
std::string PlannedAs(const topology::Paths& paths, const SearchOptions& options,
                      std::string& told) {
  std::vector<SearchTrace> search_traces;
  const HostPlan plan = SearchHost(paths, options, &search_traces).value();
  std::string text;
  for (const PatternGraph& graph : plan.graphs)
    if (!graph.channels.empty())
      text += fmt::format("{} {}x{}/{}, ", NameOf(graph.id), graph.channels.size(),
                          graph.total().mb_per_s / graph.channels.size(), graph.bound.mb_per_s);
  std::string all = ToText(plan);
  for (const PatternGraph& graph : plan.graphs)
    all += fmt::format("{} {} {}\n", graph.hops, graph.latency_inter_ns, graph.same_channels);
  all += SearchTraceText(search_traces);
  told += all;
  return text + fmt::format("{:04x}", Digest().Add(all).value() >> 48);
}

struct Planned {
  const char* words;
  bool multi_node;
  const char* compat;
  const char* best;
};

constexpr Planned kPlans[] = {
    {"1 gpu", false, "ring 32x40000/5000000, tree 32x40000/5000000, d3a8",
     "ring 32x156250/5000000, tree 32x156250/5000000, 75d9"},
    {"2 gpu", false, "ring 1x20000/20000, tree 1x20000/40000, da58",
     "ring 1x20000/20000, tree 2x20000/40000, 2b43"},
    {"(switch: 3 gpu, 1 nic 100g)", false, "ring 2x12000/24000, tree 2x12000/36000, 3614",
     "ring 2x12000/24000, tree 3x12000/36000, 96e3"},
    {"(switch: 3 gpu, 1 nic 100g)", true, "ring 1x12000/12500, tree 1x12000/12500, e583",
     "ring 1x12500/12500, tree 1x12500/12500, cede"},
    {"2x(numa: (switch: 2 gpu, 1 nic 200g))", false, "ring 1x20000/22000, tree 1x20000/32000, 6d64",
     "ring 1x22000/22000, tree 4x8000/32000, dcd6"},
    {"2x(numa: (switch: 2 gpu, 1 nic 200g))", true, "ring 1x100/24000, tree 1x100/24000, f3b7",
     "ring 2x12000/24000, tree 2x12000/24000, 81ee"},
    {"(numa: (switch: 3 gpu, 1 nic 200g), (switch: 2 gpu, 1 nic 100g))", false,
     "ring 1x20000/20000, tree 1x20000/28363, ae0c",
     "ring 1x20000/20000, tree 16x1764/28353, aace"},
    {"(numa: (switch: 3 gpu, 1 nic 200g), (switch: 2 gpu, 1 nic 100g))", true,
     "ring 1x20000/22857, tree 1x15000/22857, b259", "ring 4x5714/22856, tree 4x5714/22856, fc36"},
    {"(numa: 3 gpu, nic 100g), (numa: 2 gpu)", false,
     "ring 1x20000/21222, tree 1x20000/26833, 17bc", "ring 29x731/21199, tree 16x1666/26796, 182e"},
    {"(numa: 3 gpu, nic 100g), (numa: 2 gpu)", true, "ring 1x12000/12500, tree 1x12000/12500, 5bf0",
     "ring 1x12500/12500, tree 1x12500/12500, ebd6"},
    {"3x(numa: gpu, nic 100g)", false, "ring 2x12000/24000, tree 2x12000/36000, 755a",
     "ring 2x12000/24000, tree 6x6000/36000, 7eaa"},
    {"3x(numa: gpu, nic 100g)", true, "ring 2x12000/24000, tree 2x7000/24000, c7c9",
     "ring 2x12000/24000, tree 3x8000/24000, 9acb"},
    {"(switch: 4 gpu, 3 nic 100g)", false, "ring 2x12000/24000, tree 2x12000/32000, 0e72",
     "ring 2x12000/24000, tree 4x8000/32000, 451a"},
    {"(switch: 4 gpu, 3 nic 100g)", true, "ring 2x12000/24000, tree 2x9000/24000, c2bf",
     "ring 2x12000/24000, tree 2x12000/24000, 7fbf"},
    {"4 gpu v100-sxm2 mesh", false, "ring 6x20000/120000, tree 6x20000/160000, b2c6",
     "ring 6x20000/120000, tree 4x40000/160000, fa08"},
    {"2x(numa: (switch: 2 gpu v100-sxm2 cube-mesh, 1 nic 100g), ("
     "switch: 2 gpu v100-sxm2 cube-mesh, 1 nic 100g))",
     false, "ring 6x20000/120000, tree 6x20000/135000, 73e1",
     "ring 6x20000/120000, tree 27x5000/135000, a133"},
    {"2x(numa: (switch: 2 gpu v100-sxm2 cube-mesh, 1 nic 100g), ("
     "switch: 2 gpu v100-sxm2 cube-mesh, 1 nic 100g))",
     true, "ring 4x12000/50000, tree 4x12000/50000, 89b8",
     "ring 16x3125/50000, tree 8x6250/50000, 35e3"},
    {"2x(numa: (switch: 2 gpu a100-pcie pairs, 1 nic 200g))", false,
     "ring 3x7000/22000, tree 3x10000/44000, 8231", "ring 1x22000/22000, tree 2x22000/44000, 7163"},
    {"2x(numa: (switch: 2 gpu a100-pcie pairs, 1 nic 200g))", true,
     "ring 1x100/44000, tree 1x100/44000, 483a", "ring 2x22000/44000, tree 2x22000/44000, 0109"},
    {"2x(numa: 2x(switch: 2 gpu a100-sxm4 switch, 1 nic 200g))", false,
     "ring 12x20000/240000, tree 12x20000/274280, 8a4d",
     "ring 12x20000/240000, tree 8x34285/274280, e17c"},
    {"2x(numa: 2x(switch: 2 gpu a100-sxm4 switch, 1 nic 200g))", true,
     "ring 4x24000/96000, tree 4x24000/96000, f9c5",
     "ring 4x24000/96000, tree 4x24000/96000, 6c06"},
    {"2x(numa: 2x(switch: 2 gpu h100-sxm5 switch, 1 nic 400g))", false,
     "ring 12x30000/370800, tree 12x30000/423768, nvls 8x40000/329600, b476",
     "ring 12x30900/370800, tree 8x52971/423768, nvls 8x40000/329600, 49a5"},
    {"2x(numa: 2x(switch: 2 gpu h100-sxm5 switch, 1 nic 400g))", true,
     "ring 8x24000/192000, tree 8x24000/192000, nvls 4x48000/192000, 6218",
     "ring 8x24000/192000, tree 8x24000/192000, nvls 4x48000/192000, 1ec1"},
    {"(numa: 2x(switch: gpu b200-sxm switch, 2 nic 400g))", false,
     "ring 16x45000/721800, tree 16x90000/1443600, nvls 2x90000/481200, 991a",
     "ring 16x45112/721800, tree 16x90225/1443600, nvls 2x90000/481200, 9ac3"},
    {"(numa: 2x(switch: gpu b200-sxm switch, 2 nic 400g))", true,
     "ring 4x24000/96000, tree 4x24000/96000, nvls 2x48000/192000, eb18",
     "ring 4x24000/96000, tree 2x48000/96000, nvls 2x48000/192000, aa98"},
    {"2x(numa: (switch: 2 gpu mi300x mesh, 1 nic 400g))", false,
     "ring 6x40000/288000, tree 6x40000/384000, 51dd",
     "ring 6x48000/288000, tree 4x96000/384000, 58c4"},
    {"2x(numa: (switch: 2 gpu mi300x mesh, 1 nic 400g))", true,
     "ring 4x24000/96000, tree 4x24000/96000, 86c1",
     "ring 4x24000/96000, tree 2x48000/96000, 6510"},
    {"2x(numa: 8 gpu a100-sxm4 switch, nic 200g)", false,
     "ring 12x20000/240000, tree 12x20000/256000, c784",
     "ring 12x20000/240000, tree 16x16000/256000, fd2b"},
    {"2x(numa: 8 gpu a100-sxm4 switch, nic 200g)", true,
     "ring 2x20000/48000, tree 2x20000/48000, 0a50",
     "ring 2x22000/48000, tree 2x21818/48000, 912a"},
    {"(numa: (switch: 2 gpu), 4 gpu, 2 nic 400g), (numa: (switch: 2 gpu, 1 nic 400g), 4 gpu, "
     "1 nic 400g)",
     false, "ring 1x20000/22000, tree 1x20000/26172, f402",
     "ring 24x863/20712, tree 31x745/23100, ad73"},
    {"(numa: (switch: 2 gpu, 1 nic 400g, (switch: 4 gpu, 2 nic 400g)), (switch: 1 gpu)), ("
     "numa: (switch: 1 gpu))",
     false, "ring 1x20000/21818, tree 1x20000/26634, 5e00",
     "ring 2x10909/21818, tree 29x909/26564, a703"},
};

/// Ranks plan independently, so that all builds on all machines must find equal plans in equal
/// steps. The numbers record the search at the time of writing. A deliberate change replaces them,
/// and none of them should get smaller.
TEST(HostSearchTest, PlansAreTheSameOnEveryMachine) {
  for (const Planned& one : kPlans) {
    const MachineForTest machine(one.words);
    for (const Policy policy : {Policy::kCompat, Policy::kBest}) {
      std::string told;
      const char* const wanted = policy == Policy::kCompat ? one.compat : one.best;
      const std::string found = PlannedAs(
          machine.paths(), {.policy = policy, .multi_node = one.multi_node, .bounds = true}, told);
      EXPECT_EQ(found, wanted) << one.words << (one.multi_node ? " and multi_node\n" : "\n")
                               << told;
    }
  }
}

/// Twelve GPUs form two meshes of six, joined by narrow ports. A ring crosses two of the ports, a
/// tree one. A search that places channels one by one reaches half of that.
TEST(HostSearchTest, ManyGpusWithoutASwitchArePackedToTheBound) {
  topology::HostView view =
      topology::ParseSynthetic("(numa: 4x(switch: 3 gpu mi300x none))").value();
  for (std::size_t a = 0; a < view.gpus.size(); ++a)
    for (std::size_t b = 0; b < view.gpus.size(); ++b)
      if (a != b && a / 3 % 2 == b / 3 % 2)
        view.gpus[a].links.push_back(
            {topology::GpuLinkKind::kXgmi, view.pci[view.gpus[b].pci].bus, 1, {}});
  const MachineForTest machine(view);
  const HostPlan plan = SearchHost(machine.paths(), {.policy = Policy::kBest}).value();
  const PatternGraph& ring = plan.of(GraphId::kRing);
  const PatternGraph& tree = plan.of(GraphId::kTree);
  EXPECT_GE(ring.total().mb_per_s * 100, ring.bound.mb_per_s * 99);
  EXPECT_GE(tree.total().mb_per_s * 100, tree.bound.mb_per_s * 99);
}

/// The user's limits, on a machine with more NICs than channels need.
TEST(HostSearchTest, OptionsMakeTheSamePlansOnEveryMachine) {
  topology::HostView view =
      topology::ParseSynthetic("2x(numa: (switch: 2 gpu, 2 nic 100g))").value();
  for (topology::NetInterface& net : view.nets) net.collective = true;
  const MachineForTest machine(view);
  const std::pair<SearchOptions, const char*> plans[] = {
      {{.policy = Policy::kCompat, .multi_node = true, .cross_nic = 0},
       "ring 3x7000/0, tree 3x6000/0, c49e"},
      {{.policy = Policy::kCompat, .multi_node = true, .cross_nic = 1},
       "ring 2x12000/0, tree 2x9000/0, da97"},
      {{.policy = Policy::kBest, .multi_node = true, .cross_nic = 0},
       "ring 2x11000/24000, tree 2x12000/24000, 1445"},
      {{.policy = Policy::kBest, .multi_node = true, .cross_nic = 1},
       "ring 2x12000/24000, tree 2x12000/24000, 5167"},
      {{.multi_node = true, .net_policy = {topology::NetPolicy::Kind::kMax, 1}},
       "ring 2x12000/24000, tree 2x12000/24000, 4b1a"},
      {{.multi_node = true, .net_policy = {topology::NetPolicy::Kind::kAll, 0}},
       "ring 2x12000/24000, tree 2x12000/24000, fa84"},
      {{.multi_node = true, .scatter_nets = false}, "ring 2x12000/24000, tree 2x12000/24000, fa84"},
      {{.multi_node = true, .collnet = true},
       "ring 2x12000/24000, tree 2x12000/24000, collnet chain 2x12000/24000, "
       "collnet direct 3x9000/50000, dccd"},
  };
  for (const auto& [options, wanted] : plans) {
    std::string told;
    EXPECT_EQ(PlannedAs(machine.paths(), options, told), wanted) << told;
  }
}

TEST(HostSearchTest, TheKneeHasFewerChannelsWithSimilarBandwidth) {
  std::size_t fewer = 0;
  for (const char* words :
       {"(switch: 3 gpu, 1 nic 100g), (switch: 2 gpu, 1 nic 200g)", "8 gpu h100-sxm5 switch",
        "2x(numa: 3 gpu, 1 nic 100g)", "2x(numa: 2x(switch: 2 gpu, 1 nic 200g))"}) {
    const MachineForTest machine(words);
    for (const bool multi_node : {false, true}) {
      const auto plan = [&](Policy policy, bool knee) {
        return SearchHost(machine.paths(),
                          {.policy = policy, .multi_node = multi_node, .knee = knee})
            .value();
      };
      const HostPlan knee = plan(Policy::kBest, true), most = plan(Policy::kBest, false);
      const HostPlan compat = plan(Policy::kCompat, false);
      EXPECT_EQ(plan(Policy::kCompat, true), compat) << "NCCL knows no knee";
      for (const GraphId id : {GraphId::kRing, GraphId::kTree}) {
        EXPECT_LE(knee.of(id).channels.size(), most.of(id).channels.size()) << words;
        EXPECT_GE(knee.of(id).total().mb_per_s * 10 + 10, most.of(id).total().mb_per_s * 9)
            << words << " " << multi_node;
        EXPECT_GE(knee.of(id).total(), compat.of(id).total()) << words << " " << multi_node;
      }
      const std::size_t count = knee.of(GraphId::kRing).channels.size();
      fewer += count < most.of(GraphId::kRing).channels.size() ? 1u : 0u;
      EXPECT_GE(count, std::min(compat.of(GraphId::kRing).channels.size(),
                                most.of(GraphId::kRing).channels.size()));
    }
  }
  EXPECT_GE(fewer, 1u);
}

}  // namespace
}  // namespace ringlet::plan
