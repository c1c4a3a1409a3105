#include "tool/topo/topo_show.hpp"

#include <gmock/gmock.h>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(TopoShowTest, ShowsAFile) {
  const ToolRun ran = RunCommand({"topo", "show", Fixture("topologies/nvidia/ucb_dgx1v.topo.xml")});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("2 NVLink links to GPU 0000:85:00.0, 40 GB/s"));
  EXPECT_THAT(ran.output, HasSubstr("net lxcbr0, 10000 Mbit/s, 1.25 GB/s, device 1, not used by"));
  EXPECT_EQ(ran.errors,
            "ringlet topo show: left out, because NCCL merges them and cannot place the result "
            "(NCCL_NET_MERGE_LEVEL=LOC prevents it): 2 ports without a PCI function: lxcbr0, "
            "br-d774142ed332\n");
}

TEST(TopoShowTest, ShowsThisMachine) {
  const ToolRun ran = RunCommand({"topo", "show"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("NUMA node"));
}

TEST(TopoShowTest, AnInvalidDescriptionNamesItsColumn) {
  const ToolRun ran = RunCommand({"topo", "show", "--synthetic", "2 cpu"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("ringlet topo show: column 3 of the machine"));
  EXPECT_EQ(ran.output, "");
}

}  // namespace
}  // namespace ringlet::cli
