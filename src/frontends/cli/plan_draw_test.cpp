#include "frontends/cli/plan_draw.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "frontends/cli/plan_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(PlanDrawTest, EveryChannelIsALineOfItsColorThroughItsDevices) {
  PlanRequest request;
  request.machine.source.file = Fixture("topo-vectors/nvswitch8-sm90.xml");
  request.hosts = 4;
  const PlanView view = MakePlanView(request, {}).value();
  const Drawing drawing = DrawPlan(view);
  const auto& rings = view.classes[0].plan.of(plan::GraphId::kRing).channels;
  const auto ring = std::ranges::find_if(drawing.lines, [](const Line& line) {
    return line.title == "channel 0" && !line.color.empty();
  });
  ASSERT_NE(ring, drawing.lines.end());
  EXPECT_EQ(ring->points.size(), rings[0].devices.size() + 2);
  for (const auto& [x, y] : ring->points) {
    EXPECT_GT(x, 0);
    EXPECT_LT(x, drawing.width);
    EXPECT_LT(y, drawing.height);
  }
  // Three edges for each of the two trees over four nodes.
  EXPECT_EQ(std::ranges::count_if(
                drawing.lines,
                [](const Line& line) { return line.title.empty() && !line.color.empty(); }),
            6);
}

TEST(PlanDrawTest, SvgGoesToStandardOutput) {
  const TopoRun ran = RunPlan({"plan", "draw", Fixture("topo-vectors/pcie4-1nic.xml")});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("<svg "));
  EXPECT_THAT(ran.output, HasSubstr("#0072B2"));
}

}  // namespace
}  // namespace ringlet::cli
