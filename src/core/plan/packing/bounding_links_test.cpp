#include "plan/packing/bounding_links.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/channels/machine_for_test.hpp"
#include "plan/policy/host_search.hpp"

namespace ringlet::plan {
namespace {

struct Bounded {
  Bounded(std::string_view words, bool multi_node) : machine(words) {
    options.multi_node = multi_node;
    plan = SearchHost(machine.paths(), options).value();
    found = FindBoundingLinks(machine.paths(), options, plan.of(GraphId::kRing));
  }
  std::uint32_t Shares() const {
    std::uint32_t sum = 0;
    for (const BoundingLink& link : found.list) sum += link.per_mille;
    return sum;
  }
  template <typename What>
  bool All(const What& what) const {
    return !found.list.empty() && std::ranges::all_of(found.list, what);
  }

  MachineForTest machine;
  SearchOptions options;
  HostPlan plan;
  BoundingLinks found;
};

TEST(BoundingLinksTest, SharesSumToTheBound) {
  for (const bool multi_node : {false, true}) {
    const Bounded one("2x(numa: 2x(switch: 2 gpu, 1 nic 100g))", multi_node);
    EXPECT_TRUE(one.found.by_prices);
    EXPECT_GE(one.Shares(), 950u) << multi_node;
    EXPECT_LE(one.Shares(), 1000u) << multi_node;
    EXPECT_TRUE(
        std::ranges::is_sorted(one.found.list, std::ranges::greater(), &BoundingLink::per_mille));
  }
}

TEST(BoundingLinksTest, SlowNicsLimitRingsBeyondTheHost) {
  const Bounded one("(switch: 2 gpu, 1 nic 25g), (switch: 2 gpu, 1 nic 25g)", true);
  EXPECT_TRUE(one.All([](const BoundingLink& link) {
    return link.bandwidth.mb_per_s == 3'125 &&
           (link.is_port || link.kind == topology::LinkKind::kNetwork);
  }));
  EXPECT_FALSE(Bounded("(switch: 2 gpu, 1 nic 25g), (switch: 2 gpu, 1 nic 25g)", false)
                   .All([](const BoundingLink& link) { return link.is_port; }))
      << "within the host there are none";
}

/// If links hold the whole share of a bound, the bound rises with them.
TEST(BoundingLinksTest, FasterBoundingLinksIncreaseTheBandwidth) {
  const Bounded slow("(switch: 2 gpu, 1 nic 50g)", true), fast("(switch: 2 gpu, 1 nic 100g)", true);
  EXPECT_TRUE(slow.All([](const BoundingLink& link) {
    return link.is_port || link.from == link.to || link.bandwidth.mb_per_s == 6'250;
  }));
  EXPECT_EQ(2 * slow.plan.of(GraphId::kRing).total().mb_per_s,
            fast.plan.of(GraphId::kRing).total().mb_per_s);
}

TEST(BoundingLinksTest, EquivalentLinksAreAllListed) {
  const Bounded one("8 gpu h100-sxm5 switch", false);
  std::size_t from_gpus = 0;
  for (const BoundingLink& link : one.found.list) {
    EXPECT_EQ(link.kind, topology::LinkKind::kNvLink);
    from_gpus +=
        one.machine.paths().graph().at(link.from).kind == topology::NodeKind::kDev ? 1u : 0u;
  }
  EXPECT_EQ(from_gpus, 8u);
  EXPECT_EQ(one.found.list.size(), 16u) << "both ways";
}

TEST(BoundingLinksTest, ManyDevicesListFullLinksWithoutShares) {
  const Bounded many("(switch: 12 gpu), (switch: 12 gpu)", false);
  EXPECT_FALSE(many.found.by_prices);
  EXPECT_TRUE(many.All([](const BoundingLink& link) { return link.per_mille == 0; }));
}

TEST(BoundingLinksTest, OtherPatternsAndFallbacksLackBoundingLinks) {
  Bounded one("(switch: 4 gpu)", false);
  PatternGraph graph = one.plan.of(GraphId::kRing);
  graph.stopped = StopReason::kFallback;
  EXPECT_TRUE(FindBoundingLinks(one.machine.paths(), one.options, graph).list.empty());
  graph.stopped = StopReason::kBound;
  graph.id = GraphId::kNvls;
  EXPECT_TRUE(FindBoundingLinks(one.machine.paths(), one.options, graph).list.empty());
  EXPECT_TRUE(FindBoundingLinks(one.machine.paths(), one.options, {}).list.empty());
}

}  // namespace
}  // namespace ringlet::plan
