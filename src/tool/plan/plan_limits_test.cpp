#include "tool/plan/plan_limits.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

PlanView LimitedView(const std::string& words, std::uint32_t hosts) {
  PlanRequest request;
  request.machine.source.synthetic = words;
  request.hosts = hosts;
  return MakePlanView(request, {}).value();
}

TEST(PlanLimitsTest, PortsAreNicsWithNames) {
  const auto groups = LimitGroupsOf(LimitedView("2x(numa: (switch: 2 gpu, 1 nic 25g))", 2), 0);
  ASSERT_FALSE(groups.empty());
  std::uint32_t sum = 0;
  for (const LimitGroup& group : groups) {
    EXPECT_EQ(group.bandwidth.mb_per_s, 3'125u);
    EXPECT_EQ(group.names.size(), 2u);
    sum += group.per_mille;
  }
  EXPECT_GE(sum, 950u);
}

TEST(PlanLimitsTest, APcieLinkHasTheAddressOfThePartBelow) {
  const PlanView view = LimitedView("(switch: 4 gpu)", 1);
  const auto groups = LimitGroupsOf(view, 0);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].kind, topology::LinkKind::kPci);
  ASSERT_EQ(groups[0].bus.size(), groups[0].names.size());
  std::set<std::uint64_t> gpus;
  for (const auto gpu : view.nodes[0].paths.Of(topology::NodeKind::kGpu))
    gpus.insert(view.nodes[0].graph->device(view.nodes[0].graph->gpu(gpu).device).bus.value);
  for (const std::uint64_t bus : groups[0].bus) EXPECT_TRUE(gpus.contains(bus));
  EXPECT_THAT(groups[0].names[0], testing::MatchesRegex("GPU[0-3] - PCI\\(0000:.*\\)"));
}

TEST(PlanLimitsTest, LinksOfAmdGpusAreXgmi) {
  for (const char* words : {"4 gpu mi300x mesh", "4 gpu h100-sxm5 switch"}) {
    const auto groups = LimitGroupsOf(LimitedView(words, 1), 0);
    ASSERT_FALSE(groups.empty());
    const bool amd = std::string_view(words).find("mi300x") != std::string_view::npos;
    EXPECT_THAT(ToText(groups[0]), HasSubstr(amd ? "xGMI connection" : "NVLink connection"));
  }
}

TEST(PlanLimitsTest, ShortensManyNamesAndPrintsPercentages) {
  LimitGroup group{.kind = topology::LinkKind::kNetwork,
                   .is_port = true,
                   .bandwidth = {50'000},
                   .names = {"a", "b", "c", "d"},
                   .bus = {},
                   .per_mille = 996};
  EXPECT_EQ(ToText(group), "4 NICs of 50 GB/s, a, b, c, d (100 %)");
  group.names.push_back("e");
  group.per_mille = 0;
  EXPECT_EQ(ToText(group), "5 NICs of 50 GB/s, a, b and 3 more");
  group.names = {"x - y"};
  group.is_port = false;
  group.kind = topology::LinkKind::kSocket;
  EXPECT_EQ(ToText(group), "1 link between NUMA nodes of 50 GB/s, x - y");
  group.names.push_back("y - z");
  EXPECT_EQ(ToText(group), "2 links between NUMA nodes of 50 GB/s, x - y, y - z");
}

TEST(PlanLimitsTest, TheTextOmitsSmallShares) {
  LimitGroup large{
      .is_port = true, .bandwidth = {1000}, .names = {"a"}, .bus = {}, .per_mille = 990};
  LimitGroup small = large;
  small.names = {"b"};
  small.per_mille = 9;
  EXPECT_EQ(LimitedByText({large, small}), "limited by: 1 NIC of 1 GB/s, a (99 %)");
  small.per_mille = 10;
  EXPECT_THAT(LimitedByText({large, small}), HasSubstr("; 1 NIC of 1 GB/s, b (1 %)"));
  EXPECT_EQ(LimitedByText({}), "limited by: no limiting link found");
  EXPECT_EQ(LimitsJson({large}).at(0).at("share"), 0.99);
}

}  // namespace
}  // namespace ringlet::cli
