#include "tool/plan/plan.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(PlanTest, TextNamesChannelsBoundAndEndOfTheSearch) {
  const ToolRun ran =
      RunCommand({"plan", Fixture("topo-vectors/nvswitch8-sm90.xml"), "--hosts", "2"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("2 hosts, 2 nodes, 16 ranks, policy best"));
  EXPECT_THAT(ran.output, HasSubstr("ring (RING): "));
  EXPECT_THAT(ran.output, HasSubstr("search: "));
  EXPECT_THAT(ran.output, HasSubstr("joined over 2 nodes"));
}

TEST(PlanTest, PrintsTheWholeTextOfASmallMachine) {
  const std::string file = Fixture("topo-vectors/gpu2-nic2.xml");
  const ToolRun two = RunCommand({"plan", file, "--hosts", "2"});
  EXPECT_EQ(two.status, 0) << two.errors;
  EXPECT_THAT(two.output,
              testing::StartsWith(file + ": 2 hosts, 2 nodes, 4 ranks, policy best\nlimited by: "));
  EXPECT_THAT(two.output, HasSubstr(R"(
repair: no known defect lowers the bandwidth
one change: )"));
  EXPECT_THAT(two.output, HasSubstr(R"(

ring (RING): 2 channels of 12 GB/s within a host, 12 GB/s between hosts; paths PIX and PIX to NICs
  all together 24 GB/s, 100.0 % of the 24 GB/s that no plan can exceed
)"));
  EXPECT_THAT(two.output, HasSubstr(R"( steps; bound
  0-1: GPU0 GPU1, x 2, from GPU0 (mlx5_e000), GPU1 (mlx5_e001)

planned in )"));
  EXPECT_THAT(two.output,
              testing::ContainsRegex("\njoined over 2 nodes in [0-9.]+ ms: 4 channels"));
  const ToolRun one = RunCommand({"plan", file});
  EXPECT_THAT(one.output,
              testing::StartsWith(file + ": 1 host, 1 node, 2 ranks, policy best\nlimited by: "));
  EXPECT_THAT(one.output, HasSubstr(R"(

ring (RING): 2 channels of 12 GB/s within a host; paths PIX
  all together 24 GB/s, 100.0 % of the 24 GB/s that no plan can exceed
)"));
  EXPECT_THAT(one.output, HasSubstr(R"( steps; bound
  0-1: GPU0 GPU1, x 2

tree (BALANCED_TREE): 2 channels of 24 GB/s within a host; paths PIX
)"));
}

TEST(PlanTest, JsonHasTheKeysOfNcclAndOurs) {
  const ToolRun ran = RunCommand({"plan", "--json", "--policy", "compat", "--hosts", "2",
                                  Fixture("topo-vectors/nvswitch8-sm90.xml")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json["gpus"], 8);
  EXPECT_EQ(json["nodes"], 2);
  EXPECT_EQ(json["final_channels"], 16);
  const auto& ring = json["ring"];
  EXPECT_EQ(ring["pattern"], "RING");
  EXPECT_EQ(ring["channel_count"], 8);
  EXPECT_EQ(ring["intra_gb_s"], 48.0);
  EXPECT_EQ(ring["cross_nic"], 2);
  for (const char* key : {"bound_gb_s", "fraction", "steps", "stopped_because"})
    EXPECT_TRUE(ring.contains(key)) << key;
  EXPECT_EQ(ring["channels"].size(), 8u);
  EXPECT_EQ(ring["channels"][0]["order"].size(), 8u);
}

/// Returns the keys of NCCL's results that Ringlet has as well, with Ringlet's names.
nlohmann::json InOurWords(const nlohmann::json& result) {
  if (result.is_null()) return result;
  return {{"pattern", result["patternName"]},  {"channel_count", result["nChannels"]},
          {"intra_gb_s", result["bwIntra"]},   {"inter_gb_s", result["bwInter"]},
          {"type_intra", result["typeIntra"]}, {"type_inter", result["typeInter"]},
          {"cross_nic", result["crossNic"]},   {"same_channels", result["sameChannels"] == 1}};
}

nlohmann::json ThoseOf(const nlohmann::json& graph, const nlohmann::json& keys) {
  if (graph.is_null()) return graph;
  nlohmann::json some;
  for (const auto& [key, value] : keys.items())
    some[key] = value.is_number() && graph[key].is_number_float()
                    ? nlohmann::json(std::round(graph[key].get<double>() * 1e3) / 1e3)
                    : graph[key];
  return some;
}

void ExpectNccls(const nlohmann::json& plan, const nlohmann::json& result,
                 const std::string& name) {
  for (const char* key : {"ring", "tree", "nvls"}) {
    const nlohmann::json expected = InOurWords(result[key]);
    EXPECT_EQ(ThoseOf(plan[key], expected), expected) << name << " " << key;
  }
  EXPECT_EQ(plan["final_channels"], result["finalChannels"]) << name;
}

// The compat policy, and explain for NCCL, give the channels that NCCL found in the same files.
TEST(PlanTest, UnmodifiedFilesGiveTheResultsOfNccl) {
  std::ifstream file(Fixture("topologies/nccl-2.30-results.json"));
  const nlohmann::json results = nlohmann::json::parse(file);
  for (const auto& [name, result] : results.items()) {
    const std::string machine =
        Fixture("topologies/nvidia/" + name.substr(0, name.rfind('.')) + ".topo.xml");
    const std::vector<std::string> words = {machine, "--hosts", result["hosts"].dump(), "--json"};
    const ToolRun compat = RunCommand({"plan", "--policy", "compat"}, words);
    ASSERT_EQ(compat.status, 0) << compat.errors;
    ExpectNccls(nlohmann::json::parse(compat.output), result, name + " plan");
    const ToolRun explained = RunCommand({"explain"}, words);
    ASSERT_EQ(explained.status, 0) << explained.errors;
    ExpectNccls(nlohmann::json::parse(explained.output)["nccl"], result, name + " explain");
  }
  EXPECT_EQ(results.size(), 20u);
}

// NCCL 2.18 to 2.29 wrote these. Some had 22 GB/s per NVLink, and narrower trees on B200.
TEST(PlanTest, ChannelsEqualThoseThatNcclDumped) {
  struct Dumped {
    std::string machine, graph, hosts;
  };
  for (const Dumped& one : {Dumped{"3090x8_panlichen", "3090x8_panlichen", "2"},
                            Dumped{"hgx_b200_8x_vastai", "hgx_b200_8x_vastai", "1"},
                            Dumped{"hgx_h200_8x_vastai", "hgx_h200_8x_vastai", "1"},
                            Dumped{"perlmutter_a100_nid001056", "perlmutter_a100_nid001056", "1"},
                            Dumped{"ucb_dgx1v", "ucb_dgx1v_graph", "1"}}) {
    const auto plan = [&](const std::vector<std::string>& more) {
      const std::string file = Fixture("topologies/nvidia/" + one.machine + ".topo.xml");
      const ToolRun ran = RunCommand({"plan", "--json", "--hosts", one.hosts, file}, more);
      EXPECT_EQ(ran.status, 0) << ran.errors;
      return nlohmann::json::parse(ran.output);
    };
    const auto ours = plan({"--policy", "compat"});
    const auto dumped =
        plan({"--graph-file", Fixture("topologies/graphs/" + one.graph + ".graph.xml")});
    for (const char* key : {"ring", "tree", "nvls"}) {
      ASSERT_EQ(ours[key].is_null(), dumped[key].is_null()) << one.machine << " " << key;
      if (ours[key].is_null()) continue;
      EXPECT_EQ(ours[key]["channels"], dumped[key]["channels"]) << one.machine << " " << key;
    }
  }
}

TEST(PlanTest, ReportsMergedPortsOnlyForAMachine) {
  const std::string file = Fixture("topologies/nvidia/H100.topo.xml");
  EXPECT_EQ(RunCommand({"plan", file}).errors, "");
  EXPECT_THAT(RunCommand({"topo", "show", file}).errors,
              testing::StartsWith("ringlet topo show: merged as in NCCL (NCCL_NET_MERGE_LEVEL=LOC "
                                  "prevents it): 8 ports of several each: mlx5_0+mlx5_1, "));
}

TEST(PlanTest, ReportsErrorsOfAFileFirst) {
  for (const char* command : {"plan", "explain", "predict", "topo matrix", "topo show"}) {
    const std::string file = Fixture("topologies/broken/a100pcie_nvlink_count0_timez.topo.xml");
    std::vector<std::string> words = {command};
    if (words[0].starts_with("topo ")) words = {"topo", words[0].substr(5)};
    if (words[0] == "predict" || words[0] == "explain") words.emplace_back("--topo");
    words.push_back(file);
    EXPECT_THAT(
        RunCommand(words).errors,
        testing::StartsWith(
            std::string("ringlet ") + command + ": " + file +
            " has 2 errors, so it may not describe a real machine; see: ringlet topo lint " + file +
            "\n"))
        << command;
  }
}

TEST(PlanTest, FaultyFilesHaveTheSameEffectAsInNccl) {
  const std::string file = Fixture("topologies/broken/a100pcie_nvlink_count0_timez.topo.xml");
  const auto ring = [&](const std::vector<std::string>& more) {
    const ToolRun ran = RunCommand({"plan", "--json", "--policy", "compat", file}, more);
    EXPECT_EQ(ran.status, 0) << ran.errors;
    return nlohmann::json::parse(ran.output)["ring"];
  };
  EXPECT_EQ(ring({"--as-nccl"})["intra_gb_s"], 0.1) << "NVLinks of 0 GB/s are preferred to PCIe";
  EXPECT_GT(ring({})["intra_gb_s"], 1);
}

TEST(PlanTest, RenumbersRepeatedRanksLikeNccl) {
  const std::string whole = Fixture("topologies/nvidia/dgx_a100_xla.topo.xml");
  std::ifstream in(whole);
  std::string text(std::istreambuf_iterator<char>(in), {});
  text.replace(text.find("rank=\"3\""), 8, "rank=\"2\"");
  const std::string file = testing::TempDir() + "ringlet_plan_test.repeated_rank.xml";
  std::ofstream(file) << text;
  EXPECT_THAT(RunCommand({"plan", file}).errors, HasSubstr("rank 2 is claimed by"));
  const auto plan = [](const std::string& of) {
    const ToolRun ran = RunCommand({"plan", "--json", "--policy", "compat", "--as-nccl", of});
    EXPECT_EQ(ran.status, 0) << ran.errors;
    return nlohmann::json::parse(ran.output);
  };
  EXPECT_EQ(plan(file)["digest"], plan(whole)["digest"]);
  EXPECT_THAT(RunCommand({"plan", "--as-nccl", file}).errors,
              HasSubstr("duplicate rank: the GPUs"));
  std::filesystem::remove(file);
}

TEST(PlanTest, PrintsRanksInCpuMemoryAsTextOrJson) {
  const std::vector<std::string> arguments = {"plan", "--ranks", "4", "--synthetic",
                                              "2x(numa: nic)"};
  const ToolRun text = RunCommand(arguments);
  EXPECT_EQ(text.status, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("1 host, 4 ranks in CPU memory"));
  std::vector<std::string> as_json = arguments;
  as_json.emplace_back("--json");
  const ToolRun ran = RunCommand(as_json);
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(nlohmann::json::parse(ran.output)["ranks"], 4);
}

TEST(PlanTest, ReportsAHostThatCountsAsTwoNodes) {
  const ToolRun ran = RunCommand({"plan", Fixture("topo-vectors/pcie16-4persw.xml")});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("the host counts as 2 nodes"));
  EXPECT_THAT(ran.output, HasSubstr("node 1 of each host, 8 GPUs"));
}

TEST(PlanTest, ADumpedGraphReadsBack) {
  const std::string path = testing::TempDir() + "ringlet_plan_test.graph.xml";
  const std::string machine = Fixture("topo-vectors/pcie4-1nic.xml");
  const ToolRun planned =
      RunCommand({"plan", "--json", machine, "--hosts", "2", "--dump-graph", path});
  ASSERT_EQ(planned.status, 0) << planned.errors;
  const ToolRun read =
      RunCommand({"plan", "--json", machine, "--hosts", "2", "--graph-file", path});
  ASSERT_EQ(read.status, 0) << read.errors;
  const auto one = nlohmann::json::parse(planned.output),
             other = nlohmann::json::parse(read.output);
  EXPECT_EQ(one["digest"], other["digest"]);
  EXPECT_EQ(one["ring"]["channels"], other["ring"]["channels"]);
  std::filesystem::remove(path);
}

TEST(PlanTest, ADumpOfNcclReplacesTheSearch) {
  const ToolRun ran = RunCommand({"plan", "--json", "--hosts", "2", "--graph-file",
                                  Fixture("topologies/graphs/3090x8_panlichen.graph.xml"),
                                  Fixture("topologies/nvidia/3090x8_panlichen.topo.xml")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(nlohmann::json::parse(ran.output)["ring"]["intra_gb_s"], 4.0);
}

TEST(PlanTest, InvalidGraphFilesAndMachinesAreErrors) {
  const std::string machine = Fixture("topo-vectors/pcie4-1nic.xml");
  const ToolRun wrong = RunCommand({"plan", machine, "--graph-file", machine});
  EXPECT_EQ(wrong.status, kExitUsage);
  EXPECT_THAT(wrong.errors, HasSubstr("pcie4-1nic.xml:"));
  const ToolRun none = RunCommand({"plan", "--synthetic", "(numa: nic)"});
  EXPECT_EQ(none.status, kExitUsage);
  EXPECT_THAT(none.errors, HasSubstr("does not have GPUs to plan for"));
  const ToolRun skeleton =
      RunCommand({"plan", Fixture("topologies/broken/dell_xe8545_duplicate_busid.topo.xml")});
  EXPECT_THAT(
      skeleton.errors,
      testing::ContainsRegex("not have GPUs to plan for; .* has 2 errors, so it may not describe "
                             "a real machine; .*; ignored: 4 GPUs .* ringlet topo complete"));
  EXPECT_EQ(RunCommand({"plan", machine, "--hosts", "0"}).status, kExitUsage);
  EXPECT_EQ(RunCommand({"plan", machine, "--policy", "worst"}).status, kExitUsage);
}

TEST(PlanTest, PlansHostsOfSeveralKinds) {
  const std::string a100 = Fixture("topologies/nvidia/dgx_a100_keysight.topo.xml");
  const std::string mesh = Fixture("topologies/nvidia/perlmutter_a100_nid001056.topo.xml");
  const ToolRun ran = RunCommand({"plan", a100, "--hosts", "2", "--and", mesh + "*3"});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("5 hosts, 5 nodes, 28 ranks, policy best"));
  EXPECT_THAT(ran.output, HasSubstr("3 hosts like " + mesh + ", 4 GPUs each"));
  EXPECT_THAT(ran.output, HasSubstr("all nodes get"));  // the weaker hosts decide
  const ToolRun explained = RunCommand({"explain", "--topo", a100, "--and", mesh});
  ASSERT_EQ(explained.status, 0) << explained.errors;
  EXPECT_THAT(explained.output, HasSubstr("2 kinds of hosts"));
  for (const char* hosts : {"*none", "*0", "*", "*1x", "*1000001"})
    EXPECT_THAT(RunCommand({"plan", a100, "--and", mesh + hosts}).errors,
                HasSubstr("the number of hosts must follow *"))
        << hosts;
  EXPECT_NE(RunCommand({"plan", a100, "--and", "no/such.xml"}).status, 0);
}

nlohmann::json PlanOf(const std::vector<std::string>& words) {
  const ToolRun ran = RunCommand({"plan", "--json"}, words);
  EXPECT_EQ(ran.status, 0) << ran.errors;
  return nlohmann::json::parse(ran.output);
}

TEST(PlanTest, TakesFewerChannelsWhenMoreGiveLittle) {
  const std::string gpus = Fixture("topologies/nvidia/3090x8_panlichen.topo.xml");
  const auto knee = PlanOf({gpus})["ring"], all = PlanOf({gpus, "--channels", "32"})["ring"];
  EXPECT_LT(knee["channel_count"], 4);
  EXPECT_GT(all["channel_count"], 16);
  EXPECT_GE(knee["total_gb_s"].get<double>(), 0.9 * all["total_gb_s"].get<double>());
  EXPECT_GE(knee["total_gb_s"], PlanOf({gpus, "--policy", "compat"})["ring"]["total_gb_s"]);
}

TEST(PlanTest, KeepsTheBudgetOfChannels) {
  const std::string file = Fixture("topologies/nvidia/gcp_a3_h100.topo.xml");
  for (const char* channels : {"1", "3", "8"}) {
    const auto best = PlanOf({file, "--hosts", "2", "--channels", channels});
    EXPECT_LE(best["ring"]["channel_count"], std::stoi(channels));
    const auto compat =
        PlanOf({file, "--hosts", "2", "--channels", channels, "--policy", "compat"});
    EXPECT_LE(compat["final_channels"], 2 * std::stoi(channels));
  }
  EXPECT_EQ(RunCommand({"plan", file, "--channels", "33"}).status, kExitUsage);
}

TEST(PlanTest, TheTableByChannelsRisesAndMarksTheChoice) {
  const std::string file = Fixture("topo-vectors/nic-on-cpu.xml");
  const auto table = PlanOf({file, "--hosts", "2", "--by-channels"})["by_channels"];
  ASSERT_GE(table.size(), 2u);
  for (const char* const taken : {"ring_taken", "tree_taken"})
    EXPECT_EQ(std::ranges::count_if(table, [&](const auto& row) { return row[taken] == true; }), 1);
  double rings = 0, trees = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_TRUE(i == 0 || table[i]["channels"] > table[i - 1]["channels"]) << i;
    const double ring = table[i]["ring_gb_s"], tree = table[i]["tree_gb_s"];
    EXPECT_TRUE(ring >= rings && tree >= trees) << i;
    EXPECT_TRUE(ring > rings || tree > trees || table[i]["ring_taken"] || table[i]["tree_taken"])
        << i;
    rings = ring;
    trees = tree;
  }
  const ToolRun text = RunCommand({"plan", file, "--hosts", "2", "--by-channels"});
  EXPECT_THAT(text.output, testing::StartsWith("channels    rings GB/s    trees GB/s\n"));
  EXPECT_THAT(text.output, HasSubstr("  taken"));
  EXPECT_EQ(PlanOf({Fixture("topologies/nvidia/dgx_a100_keysight.topo.xml"), "--policy", "compat",
                    "--by-channels"})["by_channels"]
                .size(),
            12u)
      << "NCCL leaves out the last ones";
}

TEST(PlanTest, ARailFabricKeepsEachRingOnItsNic) {
  const std::string file = Fixture("topo-vectors/cubemesh8-sm70.xml");
  for (const auto& channel : PlanOf({file, "--hosts", "2", "--fabric", "rail"})["ring"]["channels"])
    EXPECT_EQ(channel["in"], channel["out"]);
  EXPECT_EQ(
      PlanOf({file, "--hosts", "2", "--fabric", "rail", "--policy", "compat"})["ring"]["cross_nic"],
      0);
  EXPECT_EQ(
      PlanOf({file, "--hosts", "2", "--fabric", "full", "--policy", "compat"})["ring"]["cross_nic"],
      1);
  EXPECT_THAT(RunCommand({"plan", file, "--fabric", "mesh"}).errors,
              HasSubstr("'mesh' is neither rail nor full"));
}

TEST(PlanTest, AnErrorForAnUnknownPolicyListsTheKnownOnes) {
  const ToolRun ran = RunCommand({"plan", "--policy", "worst"});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("'worst' is neither best nor compat"));
}

}  // namespace
}  // namespace ringlet::cli
