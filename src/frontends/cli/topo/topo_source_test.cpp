#include "frontends/cli/topo/topo_source.hpp"

#include <gmock/gmock.h>

#include "frontends/cli/input_for_test.hpp"
#include "frontends/cli/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(TopoSourceTest, WordsBecomeAMachine) {
  const Result<LoadedTopology> loaded =
      LoadTopology({.file = "", .root = "", .synthetic = "2 gpu"});
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->view.gpus.size(), 2u);
  EXPECT_EQ(loaded->title, "2 gpu");
}

TEST(TopoSourceTest, AFileHasPlaces) {
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

TEST(TopoSourceTest, NothingNamedIsThisMachine) {
  const Result<LoadedTopology> loaded = LoadTopology({});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_FALSE(loaded->view.numa_nodes.empty());
  EXPECT_NE(loaded->view.identity, 0u);
}

TEST(TopoSourceTest, AMissingFileIsNamed) {
  EXPECT_THAT(LoadTopology({.file = "no/such.xml", .root = "", .synthetic = ""}).error().message,
              HasSubstr("no/such.xml"));
  EXPECT_THAT(LoadTopology({.file = "", .root = "/no/such", .synthetic = ""}).error().message,
              HasSubstr("/no/such"));
}

TEST(TopoSourceTest, OnlyOneSourceMayBeNamed) {
  const ToolRun ran = RunCommand({"topo", "show", "a.xml", "--synthetic", "gpu"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("excludes"));
}

}  // namespace
}  // namespace ringlet::cli
