#include "tool/input/topo_source.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>

#include "tool/text/input_for_test.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(TopoSourceTest, ADescriptionBecomesAMachine) {
  const Result<LoadedTopology> loaded =
      LoadTopology({.file = "", .root = "", .synthetic = "2 gpu"});
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->view.gpus.size(), 2u);
  EXPECT_EQ(loaded->title, "2 gpu");
}

TEST(TopoSourceTest, AFileProvidesLineNumbers) {
  const std::string path = Fixture("topologies/nvidia/ucb_dgx1v.topo.xml");
  const Result<LoadedTopology> loaded = LoadTopology({.file = path, .root = "", .synthetic = ""});
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->view.gpus.size(), 8u);
  EXPECT_NE(loaded->positions.Of({topology::PartKind::kGpu, 7}).line, 0u);
}

TEST(TopoSourceTest, ADashIsStandardInput) {
  const std::string path = Fixture("topologies/nvidia/ucb_dgx1v.topo.xml");
  const std::string text = ReadUserFile(path, topology::kXmlBytesMax).value();
  for (const char* command : {"show", "matrix", "dump"}) {
    const InputForTest input(text);
    const ToolRun ran = RunCommand({"topo", command, "-"});
    EXPECT_EQ(ran.status, kExitDone) << ran.errors;
    EXPECT_EQ(ran.output, RunCommand({"topo", command, path}).output) << command;
  }
}

TEST(TopoSourceTest, AnEmptyRequestReadsThisMachine) {
  const Result<LoadedTopology> loaded = LoadTopology({});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_FALSE(loaded->view.numa_nodes.empty());
  EXPECT_NE(loaded->view.identity, 0u);
}

TEST(TopoSourceTest, MergesPortsLikeNcclAndReportsErrorsFirst) {
  const auto load = [](const std::string& file, const Settings& settings) {
    return LoadPlanned({.file = Fixture("topologies/" + file), .root = "", .synthetic = ""},
                       settings);
  };
  const auto merged = load("nvidia/a100pcie_nvl2_timez.topo.xml", {});
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  EXPECT_EQ(merged->view.nets.back().name, "mlx5_0+mlx5_1");
  EXPECT_THAT(merged->missing, testing::IsEmpty());
  EXPECT_THAT(merged->merged, HasSubstr("merged as in NCCL"));
  Settings apart;
  apart.net_merge_level = "LOC";
  EXPECT_THAT(load("nvidia/a100pcie_nvl2_timez.topo.xml", apart)->missing, testing::IsEmpty());
  const auto skeleton = load("broken/dell_xe8545_duplicate_busid.topo.xml", {});
  EXPECT_THAT(skeleton->missing,
              testing::ElementsAre(HasSubstr("has 2 errors, so it may not describe a real machine"),
                                   HasSubstr("GPUs with only a PCI function")));
  apart.net_merge_level = "NEAR";
  EXPECT_THAT(load("nvidia/a100pcie_nvl2_timez.topo.xml", apart).error().message,
              HasSubstr("RINGLET_NET_MERGE_LEVEL"));
}

TEST(TopoSourceTest, TheTopologyFileSettingReplacesThisMachine) {
  setenv("NCCL_TOPO_FILE", Fixture("topo-vectors/gpu4-nic4.xml").c_str(), 1);
  const Result<LoadedTopology> loaded = LoadTopology({});
  unsetenv("NCCL_TOPO_FILE");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->view.gpus.size(), 4u);
  EXPECT_THAT(loaded->title, HasSubstr("gpu4-nic4.xml of TOPO_FILE"));
}

TEST(TopoSourceTest, NamesAMissingFile) {
  EXPECT_THAT(LoadTopology({.file = "no/such.xml", .root = "", .synthetic = ""}).error().message,
              HasSubstr("no/such.xml"));
  EXPECT_THAT(LoadTopology({.file = "", .root = "/no/such", .synthetic = ""}).error().message,
              HasSubstr("/no/such"));
}

TEST(TopoSourceTest, RefusesTwoSources) {
  const ToolRun ran = RunCommand({"topo", "show", "a.xml", "--synthetic", "gpu"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("excludes"));
}

}  // namespace
}  // namespace ringlet::cli
