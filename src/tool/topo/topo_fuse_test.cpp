#include "tool/topo/topo_fuse.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tool/tool_run_for_test.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

topology::HostView FusedView(const ToolRun& ran) {
  EXPECT_EQ(ran.status, 0) << ran.errors;
  return topology::ViewFromXml(ran.output, "output").value();
}

TEST(TopoFuseTest, FilesWithoutAHostNameAreSeparateHosts) {
  const std::string file = Fixture("topo-vectors/nvswitch8-sm90.xml");
  const ToolRun ran = RunCommand({"topo", "fuse", file, file});
  const topology::HostView view = FusedView(ran);
  EXPECT_EQ(view.numa_nodes.size(), 4u);
  EXPECT_EQ(view.gpus.size(), 16u);
  EXPECT_EQ(view.gpus[15].rank, 15u);
  EXPECT_THAT(ran.errors, HasSubstr("ringlet topo fuse: several GPUs claimed the same rank"));
}

TEST(TopoFuseTest, MergesEqualHostsUnlessDistinct) {
  const std::string file = Fixture("topologies/nvidia/a100pcie_nvl2_timez.topo.xml");
  EXPECT_EQ(FusedView(RunCommand({"topo", "fuse", file, file})).gpus.size(), 2u);
  EXPECT_EQ(FusedView(RunCommand({"topo", "fuse", "--distinct", file, file})).gpus.size(), 4u);
}

TEST(TopoFuseTest, SeparatesTheHostsOfRepeatedRackFiles) {
  const std::string file = Fixture("topo-vectors/mnnvl-2x4.xml");
  EXPECT_EQ(FusedView(RunCommand({"topo", "fuse", file, file})).gpus.size(), 8u);
  const topology::HostView view =
      FusedView(RunCommand({"topo", "fuse", "--distinct", file, file, file}));
  EXPECT_EQ(view.gpus.size(), 24u);
  std::set<std::uint64_t> hosts;
  for (const auto& node : view.numa_nodes) hosts.insert(view.HostOf(node));
  EXPECT_EQ(hosts.size(), 6u);
}

TEST(TopoFuseTest, NamesUnreadableFiles) {
  EXPECT_EQ(RunCommand({"topo", "fuse"}).status, 2);
  const ToolRun ran = RunCommand({"topo", "fuse", "/nowhere.xml"});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("nowhere.xml"));
}

}  // namespace
}  // namespace ringlet::cli
