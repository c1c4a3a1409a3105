#include "plan/search/bound.hpp"

#include <gtest/gtest.h>

#include "plan/channels/machine_for_test.hpp"
#include "plan/policy/host_search.hpp"

namespace ringlet::plan {
namespace {

std::uint32_t Bound(std::string_view words, GraphId id, bool multi_node) {
  const MachineForTest machine(words);
  RouteTable table(machine.paths());
  const SearchOptions options;
  const NicSelector nets(table, options);
  return BoundOf(table, Limits(table, nets, id, multi_node), id, multi_node).mb_per_s;
}

TEST(BoundTest, TheNarrowestDeviceLimitsARing) {
  EXPECT_EQ(Bound("(switch: 4 gpu)", GraphId::kRing, false), 24'000u);
  EXPECT_EQ(Bound("8 gpu h100-sxm5 switch", GraphId::kRing, false), 370'800u);
  EXPECT_EQ(Bound("1 gpu", GraphId::kRing, false), 5'000'000u);
}

TEST(BoundTest, NicsLimitTheTrafficBeyondTheHost) {
  EXPECT_EQ(Bound("(switch: 2 gpu, 1 nic 100g)", GraphId::kRing, true), 12'500u);
  EXPECT_EQ(Bound("(switch: 2 gpu, 1 nic 100g)", GraphId::kTree, true), 12'500u);
}

TEST(BoundTest, ChainsHaveASenderLessThanDevices) {
  EXPECT_EQ(Bound("(switch: 4 gpu)", GraphId::kTree, false), 4 * 24'000u / 3);
}

TEST(BoundTest, HeadsOfNvlsSendTwoShares) {
  EXPECT_EQ(Bound("8 gpu h100-sxm5 switch", GraphId::kNvls, false), 370'800u * 8 / 9);
}

TEST(BoundTest, NicsAndTheirRoutesLimitNvls) {
  EXPECT_EQ(Bound("2x(switch: 4 gpu h100-sxm5 switch, 1 nic 100g)", GraphId::kNvls, true), 25'000u);
  EXPECT_EQ(Bound("2x(switch: 4 gpu h100-sxm5 switch, 1 nic 200g)", GraphId::kNvls, true), 48'000u)
      << "behind PCIe of 24 GB/s each";
}

/// GPUs on an NVSwitch. Each is split into two halves with one rank each.
topology::HostView SplitGpus(std::string_view words) {
  topology::HostView view = topology::ParseSynthetic(words).value();
  std::vector<topology::Gpu> halves;
  for (const topology::Gpu& gpu : view.gpus)
    for (const std::uint32_t half : {0u, 1u}) {
      halves.push_back(gpu);
      halves.back().mlopart = half;
      halves.back().rank = static_cast<std::uint32_t>(halves.size()) - 1;
    }
  view.gpus = halves;
  return view;
}

// A ring enters a device over the links of one half, and leaves over those of the other half.
TEST(BoundTest, NoPlanOfSplitGpusIsAboveTheBound) {
  for (const char* const words : {"2 gpu b200-sxm switch", "4 gpu b200-sxm switch, 2 nic 400g"}) {
    const MachineForTest machine(SplitGpus(words));
    for (const Policy policy : {Policy::kBest, Policy::kCompat})
      for (const bool multi_node : {false, true}) {
        const auto found = SearchHost(machine.paths(),
                                      {.policy = policy, .multi_node = multi_node, .bounds = true});
        ASSERT_TRUE(found.ok()) << found.error().message;
        for (const GraphId id : {GraphId::kRing, GraphId::kTree})
          EXPECT_LE(found->of(id).total(), found->of(id).bound)
              << words << " " << NameOf(id) << " " << multi_node;
      }
  }
}

}  // namespace
}  // namespace ringlet::plan
