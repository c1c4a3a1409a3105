#include "tool/explain/explain.hpp"

#include <gmock/gmock.h>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(ExplainTest, PrintsEachPartFromTheMachineToTheRings) {
  const ToolRun ran = RunCommand(
      {"explain", "--topo", Fixture("topologies/nvidia/gcp_a3_h100.topo.xml"), "--hosts", "2"});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  for (const char* part : {"1. The machine", "2. The search within a host", "3. All hosts",
                           "4. And NCCL?", "GPU to NIC", "It ended because", "ring of channel 0:"})
    EXPECT_THAT(ran.output, HasSubstr(part));
  EXPECT_THAT(ran.output, HasSubstr("without GPUDirect"));
  EXPECT_THAT(ran.output, HasSubstr("Rank 0 sends to 0 1 2 3 4 5 6 7 8"));
  EXPECT_THAT(ran.output, HasSubstr("ring: NCCL 2.30 takes 2 channels, 44 GB/s together"));
}

TEST(ExplainTest, PrintsTheWholeTraceOfASmallMachine) {
  const std::string file = Fixture("topo-vectors/gpu2-nic2.xml");
  const ToolRun ran = RunCommand({"explain", "--hosts", "2", "--trials", file});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, testing::StartsWith("limited by: "));
  EXPECT_THAT(ran.output,
              HasSubstr("\n\n1. The machine\n\n" + file +
                        " has 2 GPUs, 2 network ports and 1 NUMA node. A path connects"));
  EXPECT_THAT(ran.output, HasSubstr(R"(
  GPU to GPU: 2 of type PIX with 24 GB/s
  GPU to NIC: 4 of type PIX with 12.5 GB/s

2. The search within a host
)"));
  EXPECT_THAT(ran.output, HasSubstr(R"(
BALANCED_TREE. First the steps of NCCL, in its order:
  12 GB/s: 1 fits (paths up to PIX, and PIX to NICs); for one more, )"
                                    R"(DEV/0-11000 > PCI/0-10000 (PCI) is too full
  12 GB/s: 2 fit, the best so far (paths up to PIX, and PIX to NICs, each channel in its own order)
  15 GB/s within a host and 12 between hosts: 1 fits (paths up to PIX, and PIX to NICs, )"
                                    R"(each channel in its own order); for one more, )"
                                    R"(PCI/0-10000 > DEV/0-12000 (PCI) is too full
It ended because: nothing more is possible. 2 channels of 12 GB/s, 24 GB/s together: )"
                                    R"(100.0 % of 24 GB/s,
which no plan can exceed on these links.
  0-1: GPU0 GPU1, x 2, from GPU0 (mlx5_e000), GPU1 (mlx5_e001)

3. All hosts

Each channel is used twice, so that trees can use each link both ways: 4 channels.
A ring leaves each of 2 nodes by the last GPU of its order and enters the next by the first.
  ring of channel 0: 0 1 2 3
There are two trees over nodes: an inner node of one is a leaf of the other, so that both
directions of every NIC are busy. Rank 0 in channel 0: up no rank, down 1 2.
)"));
  EXPECT_THAT(ran.output, testing::EndsWith(R"(
Sends and receives have 4 channels, 2 of them for each peer. If all ranks send to all, they
take turns: in each round each rank sends to one and receives from one. Rank 0 sends to 0 1 2 3.

4. And NCCL?

  ring: NCCL 2.30 takes 2 channels, 24 GB/s together; Ringlet 2, 24 GB/s.
  tree: NCCL 2.30 takes 2 channels, 24 GB/s together; Ringlet 2, 24 GB/s.
)"));
}

TEST(ExplainTest, ShowsSearchStepsOnlyOnRequest) {
  const std::string file = Fixture("topo-vectors/gpu2-nic2.xml");
  const ToolRun ran = RunCommand({"explain", "--hosts", "2", file});
  EXPECT_THAT(ran.output, HasSubstr("\nRING. It took "));
  EXPECT_THAT(ran.output, HasSubstr(" (--trials shows them).\nIt ended because: "));
  EXPECT_THAT(ran.output, testing::Not(HasSubstr("First the steps of NCCL")));
}

TEST(ExplainTest, CountsPathsBetweenDifferentGpus) {
  const ToolRun ran = RunCommand({"explain", Fixture("topo-vectors/nvswitch8-sm90.xml")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("  GPU to GPU: 56 of type NVL with 370.8 GB/s\n"));
}

TEST(ExplainTest, NamesTheRanksOfARingInOrder) {
  const ToolRun one =
      RunCommand({"explain", Fixture("topo-vectors/gpu2-nic2.xml"), "--hosts", "2"});
  ASSERT_EQ(one.status, 0) << one.errors;
  EXPECT_THAT(one.output, testing::ContainsRegex("  ring of channel 0: [0-3] [0-3] [0-3] [0-3]\n"));
  EXPECT_THAT(one.output, HasSubstr("Rank 0 sends to 0 1 2 3.\n"));
  const ToolRun many =
      RunCommand({"explain", Fixture("topo-vectors/gpu2-nic2.xml"), "--hosts", "21"});
  ASSERT_EQ(many.status, 0) << many.errors;
  EXPECT_THAT(many.output, testing::ContainsRegex("  ring of channel 0:( [0-9]+){40} \\.\\.\\.\n"));
  EXPECT_THAT(many.output, testing::ContainsRegex("Rank 0 sends to( [0-9]+){10} \\.\\.\\.\n"));
  const ToolRun ten =
      RunCommand({"explain", Fixture("topo-vectors/gpu2-nic2.xml"), "--hosts", "5"});
  EXPECT_THAT(ten.output, testing::ContainsRegex("Rank 0 sends to( [0-9]+){10}\\.\n"));
}

TEST(ExplainTest, ASearchStepNamesItsObstacle) {
  const ToolRun ran = RunCommand(
      {"explain", "--trials", "--hosts", "2", Fixture("topo-vectors/pcie8-2sockets.xml")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output,
              testing::ContainsRegex("GB/s: 2 fit, [^\n]*; for one more, the NICs have"));
  EXPECT_THAT(ran.output, testing::ContainsRegex("GB/s: none fits [^\n]*; the NICs have"));
}

TEST(ExplainTest, ShowsTwelveSearchStepsAndCountsTheOthers) {
  const ToolRun ran = RunCommand(
      {"explain", "--trials", "--hosts", "2", Fixture("topo-vectors/cubemesh8-sm70.xml")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  const auto begin = ran.output.find("RING. First"), end = ran.output.find("It ended because");
  ASSERT_LT(begin, end);
  const std::string search_steps = ran.output.substr(begin, end - begin);
  std::size_t told = 0;
  for (auto at = search_steps.find(" GB/s: "); at != std::string::npos;
       at = search_steps.find(" GB/s: ", at + 1))
    ++told;
  EXPECT_EQ(told, 12u) << search_steps;
  EXPECT_THAT(search_steps, testing::ContainsRegex("\n  and [0-9]+ more, none of them better\n"));
}

TEST(ExplainTest, MergesEqualSearchSteps) {
  const ToolRun ran = RunCommand({"explain", "--trials", Fixture("topo-vectors/gpu2-nic2.xml")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  for (const char* line : {"  20 GB/s: 1 fits, the best so far (paths up to PIX); ",
                           "  20 GB/s: 1 fits (paths up to PIX, each channel in its own order); ",
                           "  18 GB/s: 1 fits, in 2 settings; ",
                           "  12 GB/s: 2 fit, the best so far (paths up to PIX); ",
                           "  20 GB/s: 2 fit, the best so far (paths up to PIX, each channel in"})
    EXPECT_THAT(ran.output, HasSubstr(line));
}

TEST(ExplainTest, ExplainsACollectiveForTheGivenSize) {
  const ToolRun ran = RunCommand({"explain", "all_reduce", "-n", "6", "-b", "4K"});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output,
              HasSubstr("all_reduce of 4096 bytes, 1024 floats a call, among 6 ranks on 1 host"));
  EXPECT_THAT(RunCommand({"explain", "all_reduce", "-n", "2", "--hosts", "3"}).errors,
              HasSubstr("2 ranks are too few for 3 hosts"));
  EXPECT_EQ(RunCommand({"explain", "broadcast", "-n", "4", "--root", "4"}).status, kExitUsage);
}

TEST(ExplainTest, AnUnreadableMachineFileIsAnError) {
  EXPECT_NE(RunCommand({"explain", "--topo", "no/such.xml"}).status, 0);
}

}  // namespace
}  // namespace ringlet::cli
