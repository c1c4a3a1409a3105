#include "frontends/cli/explain.hpp"

#include <gmock/gmock.h>

#include "frontends/cli/plan_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(ExplainTest, TellsTheStoryFromTheMachineToTheRings) {
  const TopoRun ran = RunPlan(
      {"explain", "--topo", Fixture("topologies/nvidia/gcp_a3_h100.topo.xml"), "--hosts", "2"});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  for (const char* part : {"1. The machine", "2. The search within a host", "3. All hosts",
                           "4. And NCCL?", "GPU to NIC", "It ended because", "ring of channel 0:"})
    EXPECT_THAT(ran.output, HasSubstr(part));
  EXPECT_THAT(ran.output, HasSubstr("have no GPUDirect"));
  EXPECT_THAT(ran.output, HasSubstr("Rank 0 sends to 0 1 2 3 4 5 6 7 8"));
  EXPECT_THAT(ran.output, HasSubstr("ring: NCCL 2.30 takes 2 channels, 44 GB/s together"));
}

TEST(ExplainTest, PathsAreCountedBetweenDifferentGpus) {
  const TopoRun ran = RunPlan({"explain", Fixture("topo-vectors/nvswitch8-sm90.xml")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("  GPU to GPU: 56 of type NVL with 370.8 GB/s\n"));
}

TEST(ExplainTest, RanksOfARingAreNamedInItsOrder) {
  const TopoRun one = RunPlan({"explain", Fixture("topo-vectors/gpu2-nic2.xml"), "--hosts", "2"});
  ASSERT_EQ(one.status, 0) << one.errors;
  EXPECT_THAT(one.output, testing::ContainsRegex("  ring of channel 0: [0-3] [0-3] [0-3] [0-3]\n"));
  EXPECT_THAT(one.output, HasSubstr("Rank 0 sends to 0 1 2 3.\n"));
  const TopoRun many = RunPlan({"explain", Fixture("topo-vectors/gpu2-nic2.xml"), "--hosts", "21"});
  ASSERT_EQ(many.status, 0) << many.errors;
  EXPECT_THAT(many.output, testing::ContainsRegex("  ring of channel 0:( [0-9]+){40} \\.\\.\\.\n"));
  EXPECT_THAT(many.output, testing::ContainsRegex("Rank 0 sends to( [0-9]+){10} \\.\\.\\.\n"));
  const TopoRun ten = RunPlan({"explain", Fixture("topo-vectors/gpu2-nic2.xml"), "--hosts", "5"});
  EXPECT_THAT(ten.output, testing::ContainsRegex("Rank 0 sends to( [0-9]+){10}\\.\n"));
}

TEST(ExplainTest, ATrialSaysWhatWasInTheWayAndOfWhat) {
  const TopoRun ran =
      RunPlan({"explain", "--hosts", "2", Fixture("topo-vectors/pcie8-2sockets.xml")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, testing::ContainsRegex("GB/s: 2 fit, [^\n]*; for another, NICs have"));
  EXPECT_THAT(ran.output, testing::ContainsRegex("GB/s: none fits [^\n]*; NICs have"));
}

TEST(ExplainTest, TrialsAreTakenTogetherWhereOneSaysAsMuchAsTheNext) {
  const TopoRun ran = RunPlan({"explain", Fixture("topo-vectors/gpu2-nic2.xml")});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  for (const char* line : {"  20 GB/s: 1 fits, the best so far (paths up to PIX); ",
                           "  20 GB/s: 1 fits (paths up to PIX, each channel in its own order); ",
                           "  18 GB/s: 1 fits, in 2 settings; ",
                           "  12 GB/s: 2 fit, the best so far (paths up to PIX); ",
                           "  20 GB/s: 2 fit, the best so far (paths up to PIX, each channel in"})
    EXPECT_THAT(ran.output, HasSubstr(line));
}

TEST(ExplainTest, ACollectiveIsExplainedForTheSizeThatWasAskedFor) {
  const TopoRun ran = RunPlan({"explain", "all_reduce", "-n", "6", "-b", "4K"});
  ASSERT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output,
              HasSubstr("all_reduce of 4096 bytes, 1024 floats a call, among 6 ranks on 1 host"));
  EXPECT_THAT(RunPlan({"explain", "all_reduce", "-n", "2", "--hosts", "3"}).errors,
              HasSubstr("2 ranks are too few for 3 hosts"));
  EXPECT_EQ(RunPlan({"explain", "broadcast", "-n", "4", "--root", "4"}).status, kExitUsage);
}

TEST(ExplainTest, WhatIsNoMachineIsAnError) {
  EXPECT_NE(RunPlan({"explain", "--topo", "no/such.xml"}).status, 0);
}

}  // namespace
}  // namespace ringlet::cli
