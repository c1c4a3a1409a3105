#include "tool/check/check_rates.hpp"

#include <gtest/gtest.h>

#include "topo/check/check.hpp"
#include "topo/edit/synthetic.hpp"

namespace ringlet::cli {
namespace {

topology::HostView Hgx() {
  return topology::ParseSynthetic("2x(numa: 4x(switch: gpu h100-sxm5 switch, nic 400g))").value();
}

MachineCosts CostsOfView(const topology::HostView& view) {
  const topology::Positions none;
  plan::GpuPlanOptions options;
  options.choice = plan::ParseTuningChoice("", "").value();
  CheckRates rates(options);
  return rates.CostsOf(view, topology::Check({.view = view, .positions = none}));
}

TEST(CheckRatesTest, TheCostOfADefectIsTheLossOfThePlan) {
  topology::HostView view = Hgx();
  view.nets[3].speed_mbit_per_s = 100'000;
  const MachineCosts costs = CostsOfView(view);
  ASSERT_EQ(costs.each.size(), 1u);
  ASSERT_TRUE(costs.each[0]);
  EXPECT_EQ(costs.each[0]->hosts, 2u);
  EXPECT_GT(costs.each[0]->lost().mb_per_s, 0u);
  EXPECT_EQ(costs.together->lost(), costs.each[0]->lost());
}

TEST(CheckRatesTest, ALinkDefectCostsMostWithinTheHost) {
  topology::HostView view = Hgx();
  view.gpus[0].links[0].count = 9;
  const MachineCosts costs = CostsOfView(view);
  ASSERT_TRUE(costs.each.at(0));
  EXPECT_EQ(costs.each[0]->hosts, 1u);
}

TEST(CheckRatesTest, SkipsThePlanOfAHealthyMachine) {
  const MachineCosts costs = CostsOfView(Hgx());
  EXPECT_TRUE(costs.each.empty());
  EXPECT_FALSE(costs.together);
}

TEST(CheckRatesTest, ASkeletonNamesTheReasonForAMissingCost) {
  topology::HostView view = Hgx();
  view.pci[view.gpus[0].pci].link_width = 2;
  view.gpus.clear();
  const MachineCosts costs = CostsOfView(view);
  EXPECT_FALSE(costs.together);
  EXPECT_NE(costs.why_not.find("ringlet topo complete"), std::string::npos);
}

TEST(CheckRatesTest, TextNamesTheLossAndTheTotal) {
  EXPECT_EQ(ToText(DefectCost{2, {24'000}, {48'000}}), "24 of 48 GB/s of all-reduce over 2 hosts");
  EXPECT_EQ(ToText(DefectCost{1, {9'500}, {12'000}}),
            "2.5 of 12 GB/s of all-reduce within the host");
  EXPECT_EQ(ToText(DefectCost{1, {12'000}, {12'000}}), "none (12 GB/s of all-reduce either way)");
}

}  // namespace
}  // namespace ringlet::cli
