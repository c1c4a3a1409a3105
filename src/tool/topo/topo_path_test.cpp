#include "tool/topo/topo_path.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(TopoPathTest, ShowsEveryHopAndMarksTheNarrowest) {
  const ToolRun ran =
      RunCommand({"topo", "path", "GPU0", "mlx5_1", Fixture("topo-vectors/nvswitch8-sm90.xml")});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(ran.output,
            "GPU0 to mlx5_1: PXN (through the GPU near the NIC), 48 GB/s, 8 hops\n"
            "   1  LOC  DEV(0000:11:00.0)    5000 GB/s\n"
            "   2  NVL  NVS0                370.8 GB/s\n"
            "   3  NVL  DEV(0000:21:00.0)   370.8 GB/s\n"
            "   4  LOC  GPU1                 5000 GB/s\n"
            "   5  LOC  DEV(0000:21:00.0)    5000 GB/s\n"
            "   6  PCI  PCI(0000:20:00.0)      48 GB/s  narrowest\n"
            "   7  PCI  NIC(22000)             48 GB/s  narrowest\n"
            "   8  NET  mlx5_1                 50 GB/s\n");
}

TEST(TopoPathTest, MarksUnconnectedDevices) {
  const ToolRun ran =
      RunCommand({"topo", "path", "GPU0", "0x5001/NUMA0", Fixture("topo-vectors/mnnvl-2x4.xml")});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_EQ(ran.output, "GPU0 to 0x5001/NUMA0: DIS (not joined)\n");
}

TEST(TopoPathTest, JsonHasTheSameHops) {
  const ToolRun ran = RunCommand(
      {"topo", "path", "GPU0", "mlx5_1", Fixture("topo-vectors/nvswitch8-sm90.xml"), "--json"});
  EXPECT_EQ(ran.status, kExitDone) << ran.errors;
  const auto json = nlohmann::json::parse(ran.output);
  EXPECT_EQ(json.at("from"), "GPU0");
  EXPECT_EQ(json.at("type"), "PXN");
  EXPECT_EQ(json.at("mb_per_s"), 48'000);
  ASSERT_EQ(json.at("links").size(), 8u);
  EXPECT_EQ(json.at("links").at(6).at("kind"), "PCI");
  EXPECT_EQ(json.at("links").at(7).at("to"), "mlx5_1");
  const ToolRun apart = RunCommand(
      {"topo", "path", "GPU0", "0x5001/NUMA0", Fixture("topo-vectors/mnnvl-2x4.xml"), "--json"});
  EXPECT_FALSE(nlohmann::json::parse(apart.output).contains("links"));
}

TEST(TopoPathTest, UnknownAndMissingNamesAreUsageErrors) {
  const std::string file = Fixture("topo-vectors/pcie4-1nic.xml");
  const ToolRun ran = RunCommand({"topo", "path", "GPU0", "GPU4", file});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("no part is called \"GPU4\""));
  EXPECT_EQ(RunCommand({"topo", "path", "GPU0"}).status, 2);
}

}  // namespace
}  // namespace ringlet::cli
