#include "tool/plan/plan_gain.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/plan/what_if.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

PlanBounds BoundsOf(PlanRequest request) {
  const PlanView view = MakePlanView(request, {}).value();
  return PlanBoundsOf(request, {}, view);
}

TEST(PlanGainTest, FasterNicsHelpOnlyBetweenHosts) {
  PlanRequest request;
  request.machine.source.synthetic = "2x(numa: (switch: 2 gpu, 1 nic 25g))";
  request.hosts = 2;
  const PlanBounds two = BoundsOf(request);
  ASSERT_FALSE(two.gains.changes.empty());
  EXPECT_EQ(two.gains.changes[0].with.mb_per_s, 2 * two.gains.changes[0].without.mb_per_s);
  EXPECT_THAT(ToText(two), HasSubstr("\none change: 12.5 instead of 6.3 GB/s by --what-if \""));
  request.hosts = 1;
  for (const Gain& gain : BoundsOf(request).gains.changes)
    EXPECT_THAT(gain.what, testing::Not(HasSubstr("rate=")));
}

TEST(PlanGainTest, SuggestedChangesAreWhatIfArguments) {
  PlanRequest request;
  request.machine.source.file = Fixture("topologies/nvidia/gcp_a3_h100.topo.xml");
  request.hosts = 2;
  const PlanBounds bounds = BoundsOf(request);
  ASSERT_FALSE(bounds.gains.changes.empty());
  EXPECT_EQ(bounds.gains.changes[0].what, "GPUs,NICs gdr=on") << "docs/explanation/planner.md";
  PlanRequest changed = request;
  changed.machine.edit = EditOf({bounds.gains.changes[0].what});
  const PlanView with = MakePlanView(changed, {}).value();
  EXPECT_EQ(with.classes[0].plan.of(plan::GraphId::kRing).total(), bounds.gains.changes[0].with);
}

TEST(PlanGainTest, ChangesLinksInARowTogether) {
  PlanRequest request;
  request.machine.source.file = Fixture("topologies/nvidia/dgx_a100_keysight.topo.xml");
  request.hosts = 2;
  const std::vector<Gain> changes = BoundsOf(request).gains.changes;
  ASSERT_GE(changes.size(), 3u);
  EXPECT_TRUE(changes[0].is_more());
  EXPECT_THAT(changes[0].what, testing::StartsWith("GPUs,")) << "links of switches, too";
  for (std::size_t i = 1; i < changes.size(); ++i) EXPECT_FALSE(changes[i].is_more()) << i;
}

TEST(PlanGainTest, NamesTheGainOfARepair) {
  PlanRequest request;
  request.machine.source.synthetic = "2x(numa: (switch: 4 gpu))";
  EXPECT_THAT(ToText(BoundsOf(request)), HasSubstr("\nrepair: no known defect"));
  request.machine.edit = EditOf({"GPU3 pcie=gen1x16"});
  const PlanBounds sick = BoundsOf(request);
  ASSERT_FALSE(sick.gains.repairs.empty());
  EXPECT_TRUE(sick.gains.repairs[0].is_more());
  EXPECT_THAT(ToText(sick), testing::ContainsRegex("\nrepair: [0-9.]+ instead of [0-9.]+ GB/s "
                                                   "\\(GPU3.*; see ringlet topo check\\)\n"));
}

TEST(PlanGainTest, SkipsLargeHostsAndGivenChannels) {
  PlanRequest request;
  request.machine.source.synthetic = "2x(switch: 9 gpu)";
  EXPECT_THAT(ToText(BoundsOf(request)), HasSubstr("not planned: hosts with more than 16 GPUs"));
}

TEST(PlanGainTest, AGainExceedsOnePercent) {
  EXPECT_FALSE((Gain{"", {1000}, {1010}}.is_more()));
  EXPECT_TRUE((Gain{"", {1000}, {1011}}.is_more()));
  EXPECT_TRUE((Gain{"", {0}, {1}}.is_more()));
}

TEST(PlanGainTest, ReportsThatChangesGiveNoGain) {
  Gains gains;
  EXPECT_EQ(GainsText(gains),
            "repair: no known defect lowers the bandwidth\none change: no candidates");
  gains.changes.push_back({"NICs rate=1Gb/s", {1000}, {1000}});
  EXPECT_THAT(GainsText(gains),
              HasSubstr("one change: no gain from 1 tried, best: NICs rate=1Gb/s"));
  EXPECT_EQ(GainsJson(gains).at("changes").at(0).at("with_gb_s"), 1.0);
  EXPECT_FALSE(GainsJson(gains).contains("why_not"));
}

}  // namespace
}  // namespace ringlet::cli
