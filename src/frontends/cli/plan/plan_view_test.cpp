#include "frontends/cli/plan/plan_view.hpp"

#include <gmock/gmock.h>

#include "frontends/cli/tool_run_for_test.hpp"
#include "os/process/clock.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

PlanRequest For(const std::string& file, std::uint32_t hosts) {
  PlanRequest request;
  request.machine.source.file = Fixture(file);
  request.hosts = hosts;
  return request;
}

TEST(PlanViewTest, TwelveThousandHostsCostOneSearch) {
  const PlanView view = MakePlanView(For("topo-vectors/nvswitch8-sm90.xml", 12'500), {}).value();
  EXPECT_EQ(view.classes.size(), 1u);
  EXPECT_EQ(view.ranks(), 100'000u);
  EXPECT_LT(view.joined.plan.bytes(), 20'000u);
  EXPECT_TRUE(view.joined.plan.Check().ok());
}

TEST(PlanViewTest, ASearchTookNoLongerThanTheCall) {
  const Instant start = os::Now();
  const PlanView view = MakePlanView(For("topo-vectors/pcie16-4persw.xml", 2), {}).value();
  Instant searches{0};
  for (const NodeView& node : view.nodes) searches += node.search_time;
  EXPECT_GT(searches, Instant(0));
  EXPECT_LE(searches, os::Now() - start);
}

TEST(PlanViewTest, GpusAreNumberedWithinTheirNode) {
  const PlanView view = MakePlanView(For("topo-vectors/pcie16-4persw.xml", 2), {}).value();
  ASSERT_EQ(view.classes.size(), 2u) << "a host that is two nodes";
  for (const plan::NodeClass& node : view.classes)
    EXPECT_THAT(node.locals, testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(view.joined.plan.node_count(), 4u) << "two on each of two hosts";
  EXPECT_EQ(view.ranks(), 32u);
}

TEST(PlanViewTest, VariablesAreHeeded) {
  const PlanRequest request = For("topo-vectors/nvswitch8-sm90.xml", 2);
  EXPECT_EQ(MakePlanView(request, {{"NCCL_MAX_NCHANNELS", "3"}})->joined.plan.channel_count(), 3u);
  EXPECT_THAT(MakePlanView(request, {{"NCCL_MIN_NCHANNELS", "65"}}).error().message,
              HasSubstr("NCCL_MIN_NCHANNELS"));
  const PlanView view = MakePlanView(request, {}).value();
  EXPECT_THAT(TuningInputOf(view, {{"NCCL_ALGO", "wheel"}}).error().message,
              HasSubstr("\"wheel\""));
}

TEST(PlanViewTest, TheModelSeesTheMachine) {
  const PlanView view = MakePlanView(For("topo-vectors/nvswitch8-sm80-amd.xml", 2), {}).value();
  const plan::TuningInput input = TuningInputOf(view, {}).value();
  EXPECT_EQ(input.ranks, 16u);
  EXPECT_EQ(input.nodes, 2u);
  EXPECT_EQ(input.capability_min, 80u);
  EXPECT_TRUE(input.amd && input.amd_or_mixed && input.nvswitch);
  EXPECT_FALSE(input.power);
  EXPECT_EQ(input.nvls_heads, 0u) << "NVSwitches sum from sm 90 on";
}

TEST(PlanViewTest, TheModelSeesSwitchesThatSumAndOtherProcessors) {
  const PlanView sums = MakePlanView(For("topo-vectors/nvswitch8-sm90.xml", 2), {}).value();
  const plan::TuningInput input = TuningInputOf(sums, {}).value();
  EXPECT_EQ(input.nvls_heads, 8u);
  EXPECT_EQ(input.node_ranks_max, 8u);
  EXPECT_FALSE(input.amd || input.amd_or_mixed);
  const PlanView none = MakePlanView(For("topo-vectors/pcie4-1nic.xml", 1), {}).value();
  EXPECT_FALSE(TuningInputOf(none, {})->nvswitch);
  PlanRequest mixed = For("topo-vectors/nvswitch8-sm80-amd.xml", 1);
  mixed.others = {Fixture("topo-vectors/nvswitch8-sm90.xml") + "*2"};
  const plan::TuningInput both = TuningInputOf(MakePlanView(mixed, {}).value(), {}).value();
  EXPECT_TRUE(both.amd_or_mixed);
  EXPECT_FALSE(both.amd) << "not all of them";
  EXPECT_EQ(both.ranks, 24u);
  EXPECT_EQ(both.capability_min, 80u);
  EXPECT_EQ(both.capability_max, 90u);
}

}  // namespace
}  // namespace ringlet::cli
