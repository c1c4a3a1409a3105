// Compares the search within a host with NCCL's results on the same machines: the vectors in
// test/fixtures/topo-vectors and nccl-2.30-results.json. Their READMEs name the origin.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/policy/host_search.hpp"
#include "plan_machines.hpp"
#include "vectors.hpp"

namespace ringlet::plan {
namespace {

using Json = nlohmann::json;
using test::Contents;
using test::MbPerS;
using topology::Graph;
using topology::NodeKind;
using topology::Paths;

Json NetName(const Graph& graph, const Paths& paths, std::optional<std::uint32_t> net) {
  if (!net) return nullptr;
  return topology::NcclName(graph, paths.Of(NodeKind::kNet)[*net]);
}

/// Uses the keys of the vectors, limited to compared ones.
Json ToJson(const PatternGraph& found, const Graph& graph, const Paths& paths) {
  Json json;
  json["id"] = static_cast<int>(found.id);
  json["pattern"] = static_cast<int>(found.pattern);
  json["crossNic"] = found.cross_nic;
  json["nChannels"] = found.channels.size();
  json["bwIntra"] = found.intra.mb_per_s;
  json["bwInter"] = found.inter.mb_per_s;
  json["typeIntra"] = topology::NameOf(found.type_intra);
  json["typeInter"] = topology::NameOf(found.type_inter);
  json["sameChannels"] = found.same_channels ? 1 : 0;
  json["searches"] = found.searches;
  json["channels"] = Json::array();
  for (const LocalChannel& channel : found.channels) {
    Json ranks = Json::array();
    for (const std::uint32_t device : channel.devices)
      ranks.push_back(graph.at(paths.Of(NodeKind::kGpu)[device]).number);
    json["channels"].push_back({{"in", NetName(graph, paths, channel.entry)},
                                {"ranks", ranks},
                                {"out", NetName(graph, paths, channel.exit)}});
  }
  return json;
}

class PlanVectorTest : public testing::TestWithParam<std::string> {};

TEST_P(PlanVectorTest, GraphsEqualThoseOfNccl) {
  const Json vector = test::ReadVector(GetParam());
  const Result<PlannedMachine> machine =
      PlannedMachine::Read("topo-vectors/" + vector["xml"].get<std::string>(), false, {});
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  const Result<Paths> paths = topology::FindPaths(machine->graph, 0, {});
  ASSERT_TRUE(paths.ok()) << paths.error().message;
  const Result<HostPlan> plan = SearchHost(
      *paths, {.policy = Policy::kCompat, .multi_node = vector["inter"].get<int>() == 1});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  std::size_t compared = 0;
  for (Json expected : vector["graphs"]) {
    for (const char* key : {"bwIntra", "bwInter"}) expected[key] = MbPerS(expected[key]);
    const auto id = static_cast<GraphId>(expected["id"].get<int>());
    EXPECT_EQ(ToJson(plan->of(id), machine->graph, *paths), expected);
    ++compared;
  }
  EXPECT_GE(compared, 2u);
}

INSTANTIATE_TEST_SUITE_P(Nccl, PlanVectorTest, testing::ValuesIn(test::Vectors()),
                         test::VectorName<testing::TestParamInfo<std::string>>);

/// Omits the channels themselves, because these results do not list them.
Json Summary(const PatternGraph& found) {
  if (found.channels.empty()) return nullptr;
  return {{"patternName", NameOf(found.pattern)},
          {"nChannels", found.channels.size()},
          {"bwIntra", found.intra.mb_per_s},
          {"bwInter", found.inter.mb_per_s},
          {"typeIntra", topology::NameOf(found.type_intra)},
          {"typeInter", topology::NameOf(found.type_inter)},
          {"crossNic", found.cross_nic},
          {"sameChannels", found.same_channels ? 1 : 0}};
}

TEST(PlanResultTest, GraphsOfRealMachinesEqualThoseOfNccl) {
  const Json results = test::ReadResults();
  for (const auto& [name, result] : results.items()) {
    const std::string file = name.substr(0, name.rfind('.'));
    const topology::PathOptions options = OptionsFor(file);
    const Result<PlannedMachine> machine =
        PlannedMachine::Read("topologies/nvidia/" + file + ".topo.xml", true, options);
    ASSERT_TRUE(machine.ok()) << machine.error().message;
    const Result<Paths> paths = topology::FindPaths(machine->graph, 0, options);
    ASSERT_TRUE(paths.ok()) << paths.error().message;
    const Result<HostPlan> plan = SearchHost(
        *paths, {.policy = Policy::kCompat, .multi_node = result["nNodes"].get<int>() > 1});
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    for (const auto& [key, id] : std::map<std::string, GraphId>{
             {"ring", GraphId::kRing}, {"tree", GraphId::kTree}, {"nvls", GraphId::kNvls}}) {
      Json expected = result[key];
      if (!expected.is_null()) {
        expected.erase("best_cpu_us");
        for (const char* bw : {"bwIntra", "bwInter"}) expected[bw] = MbPerS(expected[bw]);
      }
      EXPECT_EQ(Summary(plan->of(id)), expected) << name << " " << key;
    }
  }
  EXPECT_EQ(results.size(), 20u);
}

void CompareWithCompat(const std::string& name, const Paths& paths, bool multi_node) {
  const Result<HostPlan> compat =
      SearchHost(paths, {.policy = Policy::kCompat, .multi_node = multi_node});
  const Result<HostPlan> best = SearchHost(paths, {.multi_node = multi_node});
  ASSERT_TRUE(compat.ok() && best.ok()) << name;
  for (const GraphId id : {GraphId::kRing, GraphId::kTree, GraphId::kNvls}) {
    EXPECT_GE(best->of(id).total(), compat->of(id).total()) << name;
    if (best->of(id).stopped != StopReason::kFallback) {
      EXPECT_LE(best->of(id).total(), best->of(id).bound) << name << " " << ToText(best->of(id));
    }
  }
  for (const LocalChannel& channel : best->of(GraphId::kRing).channels) {
    std::vector<std::uint32_t> sorted = channel.devices;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], i) << name;
    EXPECT_EQ(sorted.size(), best->devices) << name;
  }
}

TEST(PlanPoliciesTest, BestIsNeverWorseThanCompatAndNeverAboveTheBound) {
  std::size_t compared = 0;
  for (const std::string& file : Files()) {
    const Result<topology::HostView> view = topology::ViewFromXml(Contents(file), file);
    ASSERT_TRUE(view.ok()) << view.error().message;
    const Result<PlannedMachine> machine =
        PlannedMachine::Of(*view, {.gpus = topology::GpuRanks::kAll}, {});
    if (!machine.ok()) continue;  // no GPUs
    const Result<Paths> paths = topology::FindPaths(machine->graph, 0, {});
    ASSERT_TRUE(paths.ok()) << paths.error().message;
    for (const bool multi_node : {false, true}) CompareWithCompat(file, *paths, multi_node);
    ++compared;
  }
  EXPECT_GE(compared, 35u);
}

TEST(PlanPoliciesTest, TreesOfAMeshReachTheBound) {
  const Result<PlannedMachine> machine =
      PlannedMachine::Read("topologies/nvidia/perlmutter_a100_nid001056.topo.xml", true, {});
  ASSERT_TRUE(machine.ok()) << machine.error().message;
  const Result<Paths> paths = topology::FindPaths(machine->graph, 0, {});
  ASSERT_TRUE(paths.ok()) << paths.error().message;
  const Result<HostPlan> plan = SearchHost(*paths, {});
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const PatternGraph& tree = plan->of(GraphId::kTree);
  EXPECT_GE(tree.total().mb_per_s + tree.channels.size(), tree.bound.mb_per_s) << ToText(tree);
}

TEST(PlanPoliciesTest, PlansLargeNvLinkDomains) {
  for (const std::uint32_t gpus : {72u, 144u}) {
    const Result<topology::HostView> view = LargeDomain(gpus);
    ASSERT_TRUE(view.ok()) << view.error().message;
    const Result<PlannedMachine> machine =
        PlannedMachine::Of(*view, {.gpus = topology::GpuRanks::kAll}, {});
    ASSERT_TRUE(machine.ok()) << machine.error().message;
    const Result<Paths> paths = topology::FindPaths(machine->graph, 0, {});
    ASSERT_TRUE(paths.ok()) << paths.error().message;
    for (const bool multi_node : {false, true})
      CompareWithCompat(fmt::format("{} GPUs", gpus), *paths, multi_node);
  }
}

}  // namespace
}  // namespace ringlet::plan
