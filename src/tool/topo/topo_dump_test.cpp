#include "tool/topo/topo_dump.hpp"

#include <gmock/gmock.h>

#include "tool/tool_run_for_test.hpp"
#include "topo/edit/synthetic.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::cli {
namespace {

TEST(TopoDumpTest, TheWrittenFileReadsBack) {
  const char* words = "2x(numa: 2 gpu h100-sxm5 switch, nic 400g)";
  const ToolRun ran = RunCommand({"topo", "dump", "--synthetic", words});
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(topology::ViewFromXml(ran.output, "").value(), topology::ParseSynthetic(words).value());
}

TEST(TopoDumpTest, MergesNicsLikeAPlugin) {
  const char* words = "2x(switch: gpu, 2 nic 200g)";
  const ToolRun ran = RunCommand({"topo", "dump", "--synthetic", words, "--merge-nics", "pix"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, testing::HasSubstr("name=\"nic0+nic1\""));
  EXPECT_THAT(ran.output, testing::HasSubstr("name=\"nic2+nic3\""));
  EXPECT_THAT(
      RunCommand({"topo", "dump", "--synthetic", words, "--force-merge", "nic1,nic2"}).output,
      testing::HasSubstr("name=\"nic1+nic2\""));
  const ToolRun odd = RunCommand({"topo", "dump", "--synthetic", words, "--merge-nics", "near"});
  EXPECT_EQ(odd.status, 2);
  EXPECT_THAT(odd.errors, testing::HasSubstr("near"));
}

TEST(TopoDumpTest, AnUnreadableFileIsAnError) {
  const ToolRun ran =
      RunCommand({"topo", "dump", Fixture("topologies/graphs/hgx_h200_8x_vastai.graph.xml")});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, testing::HasSubstr("NCCL_GRAPH_FILE"));
  EXPECT_EQ(ran.output, "");
}

}  // namespace
}  // namespace ringlet::cli
