#include "tool/topo/topo_matrix.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cctype>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "os/fs/temp_tree_for_test.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(TopoMatrixTest, PrintsTypesAndBandwidthsOfAPcieMachine) {
  const ToolRun ran = RunCommand({"topo", "matrix", Fixture("topo-vectors/pcie4-1nic.xml")});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("        GPU0    GPU1    GPU2    GPU3    NIC0\n"
                                    "GPU0       X  PIX 12  PHB 12  PHB 12  PIX 12\n"
                                    "GPU1  PIX 12       X  PHB 12  PHB 12  PIX 12\n"));
  EXPECT_THAT(ran.output, HasSubstr("GPU0  0000:11:00.0  sm 70       NUMA0\n"));
  EXPECT_THAT(ran.output, HasSubstr("NIC0  mlx5_0        100 Gbit/s  NUMA0\n"));
  EXPECT_EQ(ran.errors, "");
}

TEST(TopoMatrixTest, PrintsTheArchitectureOfAmdGpus) {
  const ToolRun ran =
      RunCommand({"topo", "matrix", Fixture("topologies/amd/topo_8p_942.topo.xml")});
  EXPECT_THAT(ran.output, HasSubstr("gfx942"));
  EXPECT_THAT(ran.output, testing::Not(HasSubstr("sm ")));
}

TEST(TopoMatrixTest, ReportsOmittedDevices) {
  const ToolRun ran = RunCommand({"topo", "matrix", Fixture("topologies/nvidia/ndv4.topo.xml")});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.errors, HasSubstr("topo matrix: ignored: 8 GPUs with"));
}

/// Returns nvidia-smi's output with spaces for tabs, without the columns that Ringlet lacks.
std::vector<std::string> SmiRows(const std::string& text, std::size_t gpus) {
  std::vector<std::string> rows;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("GPU")) continue;
    std::istringstream words(line);
    std::string row, word;
    for (std::size_t i = 0; i <= gpus && words >> word; ++i) row += word + " ";
    rows.push_back(row);
  }
  return rows;
}

TEST(TopoMatrixTest, AgreesWithNvidiaSmi) {
  for (const auto& [name, gpus] :
       {std::pair("perlmutter_a100_nid001056", 4u), std::pair("hgx_h200_8x_vastai", 8u),
        std::pair("hgx_b200_8x_vastai", 8u)}) {
    const ToolRun ran =
        RunCommand({"topo", "matrix", "--nvidia-smi",
                    Fixture("topologies/nvidia/" + std::string(name) + ".topo.xml")});
    ASSERT_EQ(ran.status, 0) << ran.errors;
    std::ifstream file(Fixture("topologies/statements/" + std::string(name) + ".topo-m.txt"));
    const std::string said((std::istreambuf_iterator<char>(file)), {});
    const std::vector<std::string> rows = SmiRows(ran.output, gpus);
    EXPECT_EQ(rows.size(), gpus);
    EXPECT_EQ(rows, SmiRows(said, gpus)) << name;
  }
}

/// Returns NCCL's paths: from its names of both ends, without the host, to "MB/s type".
std::map<std::string, std::string> Printed(const std::string& log) {
  std::map<std::string, std::string> printed;
  const std::regex line_pattern("NCCL INFO ((?:GPU|NET)/\\S+) :(GPU/.*)");
  const std::regex path_pattern("(\\S+) \\(\\d+/([0-9.]+)/([A-Z0-9]+)\\)");
  std::ifstream file(Fixture("topologies/statements/" + log));
  const auto bare = [](const std::string& name) {
    return std::regex_replace(name, std::regex("/0-"), "/");
  };
  for (std::string line; std::getline(file, line);) {
    std::smatch from;
    if (!std::regex_search(line, from, line_pattern)) continue;
    const std::string rest = from[2];
    for (std::sregex_iterator it(rest.begin(), rest.end(), path_pattern), end; it != end; ++it)
      printed[bare(from[1]) + " " + bare((*it)[1])] =
          fmt::format("{} {}", std::lround(std::stod((*it)[2]) * 1000), (*it)[3].str());
  }
  return printed;
}

TEST(TopoMatrixTest, AgreesWithTheLogOfNccl) {
  struct Case {
    std::string file, log;
    std::vector<std::string> options;
    std::size_t ends;
  };
  for (const Case& one :
       {Case{
            "nvidia/3090x8_panlichen", "3090x8_panlichen.log27.rank4.txt", {"--no-peer-access"}, 9},
        Case{"nvidia/a100pcie_nvl2_timez", "a100pcie_timez.rank0.txt", {}, 2},
        Case{"broken/a100pcie_topo_fail_timez", "a100pcie_fault_timez.rank0.txt", {}, 2}}) {
    std::vector<std::string> arguments = {"matrix", "--json", "--numa", "--as-nccl",
                                          Fixture("topologies/" + one.file + ".topo.xml")};
    arguments.insert(arguments.end(), one.options.begin(), one.options.end());
    const ToolRun ran = RunCommand({"topo"}, arguments);
    ASSERT_EQ(ran.status, 0) << ran.errors;
    const auto json = nlohmann::json::parse(ran.output);
    const std::map<std::string, std::string> printed = Printed(one.log);
    std::size_t compared = 0;
    const auto name = [&](const nlohmann::json& number) {
      std::string text = json["nodes"][number.get<std::size_t>()]["nccl"];
      for (char& letter : text) letter = static_cast<char>(std::toupper(letter));
      return std::regex_replace(text, std::regex("/0-"), "/");
    };
    for (const auto& path : json["paths"]) {
      const auto at = printed.find(name(path[0]) + " " + name(path[1]));
      if (at == printed.end()) continue;
      EXPECT_EQ(fmt::format("{} {}", path[3].get<std::uint32_t>(), path[2].get<std::string>()),
                at->second)
          << one.file << " " << at->first;
      ++compared;
    }
    EXPECT_EQ(compared, printed.size()) << one.file;
    EXPECT_GE(compared, one.ends * one.ends - (one.ends == 9 ? 1 : 0)) << one.file;
  }
}

TEST(TopoMatrixTest, MergesPortsIntoTheVirtualDeviceOfNccl) {
  std::ostringstream log;
  log << std::ifstream(Fixture("topologies/statements/a100pcie_timez.rank0.txt")).rdbuf();
  EXPECT_THAT(log.str(),
              HasSubstr("Made virtual device [2] name=mlx5_0+mlx5_1 speed=200000 ndevs=2"));
  const ToolRun ran = RunCommand(
      {"topo", "matrix", "--json", Fixture("topologies/nvidia/a100pcie_nvl2_timez.topo.xml")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const auto nodes = nlohmann::json::parse(ran.output)["nodes"];
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[2]["name"], "mlx5_0+mlx5_1");
  EXPECT_EQ(nodes[2]["nccl"], "NET/0-2");
}

TEST(TopoMatrixTest, AnUnknownNumaNodePrintsWithoutANumber) {
  os::TempTree tree;
  tree.Write("unknown.xml",
             "<system version=\"1\"><cpu numaid=\"-1\" arch=\"x86_64\" vendor=\"GenuineIntel\" "
             "familyid=\"6\" modelid=\"143\"><pci busid=\"0000:01:00.0\" class=\"0x030200\">"
             "<gpu dev=\"0\" sm=\"90\" rank=\"0\" gdr=\"1\"/></pci></cpu></system>");
  const std::string file = tree.root() + "/unknown.xml";
  const ToolRun smi = RunCommand({"topo", "matrix", "--nvidia-smi", file});
  EXPECT_THAT(smi.output, HasSubstr("\tN/A\n"));
  EXPECT_THAT(smi.output, testing::Not(HasSubstr("4294967295")));
  EXPECT_THAT(RunCommand({"topo", "matrix", "--json", file}).output,
              testing::Not(HasSubstr("4294967295")));
}

/// Source  pairs that nvidia-smi printed with NICs on a machine of this shape.
TEST(TopoMatrixTest, PrintsNearnessOfNicsLikeNvidiaSmi) {
  const ToolRun ran = RunCommand(
      {"topo", "matrix", "--nvidia-smi", "--synthetic", "2x(numa: 4x(switch: 1 gpu, 1 nic 400g))"});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("NIC5\tSYS\tSYS\tSYS\tSYS\tNODE\tPIX\tNODE\tNODE\tSYS\tSYS\t"
                                    "SYS\tSYS\tNODE\t X \tNODE\tNODE\t1\n"));
}

TEST(TopoMatrixTest, JsonHasEveryPair) {
  const ToolRun ran =
      RunCommand({"topo", "matrix", "--json", Fixture("topo-vectors/nvswitch8-sm90.xml")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  ASSERT_EQ(json["nodes"].size(), 16u);
  EXPECT_EQ(json["nodes"][1]["bus"], "0000:21:00.0");
  EXPECT_EQ(json["nodes"][15]["numa"], 1);
  ASSERT_EQ(json["paths"].size(), 256u);
  EXPECT_EQ(json["paths"][1], nlohmann::json::parse("[0, 1, \"NVL\", 370800, 4]"));
  EXPECT_EQ(json["paths"][9], nlohmann::json::parse("[0, 9, \"PXN\", 48000, 8]"));
}

TEST(TopoMatrixTest, TheAsWiredOptionIgnoresTransports) {
  const std::string file = Fixture("topo-vectors/nvswitch8-sm90.xml");
  EXPECT_THAT(RunCommand({"topo", "matrix", "--as-wired", file}).output, Not(HasSubstr("PXN 48")));
  EXPECT_THAT(RunCommand({"topo", "matrix", file}).output, HasSubstr("PXN 48"));
}

TEST(TopoMatrixTest, TheAsNcclOptionRepeatsTheFaultsOfNccl) {
  const std::string file = Fixture("topo-vectors/unknown-cpu-vendor.xml");
  EXPECT_THAT(RunCommand({"topo", "matrix", "--numa", file}).output, HasSubstr("SYS 16\n"));
  EXPECT_THAT(RunCommand({"topo", "matrix", "--numa", "--as-nccl", file}).output,
              HasSubstr("SYS 5000\n"));
}

TEST(TopoMatrixTest, ReadsThisMachineAndRefusesAMissingFile) {
  const ToolRun here = RunCommand({"topo", "matrix"});
  EXPECT_EQ(here.status, 0) << here.errors;
  EXPECT_THAT(here.output, HasSubstr("NUMA"));
  EXPECT_EQ(RunCommand({"topo", "matrix", "/nowhere.xml"}).status, kExitUsage);
}

}  // namespace
}  // namespace ringlet::cli
