#include "plan/policy/best_search.hpp"

#include <gtest/gtest.h>

#include "plan/channels/machine_for_test.hpp"

namespace ringlet::plan {
namespace {

std::vector<Division> Divisions(const DivisionRange& range) {
  const MachineForTest machine("(switch: 4 gpu, 1 nic 100g)");
  RouteTable table(machine.paths());
  const SearchOptions options;
  const NicSelector nets(table, options);
  return DivisionsOf(range, Limits(table, nets, GraphId::kRing, true), 25'000);
}

TEST(BestSearchTest, DivisionsAreSortedAndBeatTheFloor) {
  const std::vector<Division> list = Divisions({12'500, 5'000, 2, 1, 32});
  ASSERT_FALSE(list.empty());
  EXPECT_EQ(list.front(), (Division{2, 6'250}));
  for (const Division& one : list) {
    const std::uint64_t total = std::uint64_t{one.channels} * one.mb_per_s;
    EXPECT_GT(total, 5'000u);
    EXPECT_LE(total, 12'500u);
  }
}

TEST(BestSearchTest, NoDivisionExceedsTheBound) {
  EXPECT_TRUE(Divisions({12'500, 12'500, 1, 1, 32}).empty());
  EXPECT_TRUE(Divisions({0, 0, 1, 1, 32}).empty());
}

}  // namespace
}  // namespace ringlet::plan
