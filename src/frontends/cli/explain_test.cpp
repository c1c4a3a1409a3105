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

TEST(ExplainTest, WhatIsNoMachineIsAnError) {
  EXPECT_NE(RunPlan({"explain", "--topo", "no/such.xml"}).status, 0);
}

}  // namespace
}  // namespace ringlet::cli
