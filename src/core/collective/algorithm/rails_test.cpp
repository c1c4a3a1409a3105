// Checks the choice of ranks. algorithm_test.cpp proves the schedules.
#include "collective/algorithm/rails.hpp"

#include <gtest/gtest.h>

#include "collective/algorithm/direct.hpp"

namespace ringlet::collective {
namespace {

TEST(Rails, HaveARankOfEachHost) {
  const Groups groups = {{Rank{4}, Rank{1}}, {Rank{0}, Rank{3}, Rank{2}}};
  EXPECT_EQ(RailAt(groups, 1), (std::vector<Rank>{Rank{1}, Rank{3}}));
  EXPECT_EQ(LeadersFor(groups, Rank{2}), (std::vector<Rank>{Rank{4}, Rank{2}}));
}

TEST(Rails, RenumberOnlyTheRanksOfASchedule) {
  const std::vector<Rank> rail = {Rank{7}, Rank{5}, Rank{9}};
  const Schedule flat = DirectAllGather({Rank{1}, 3}, 10);
  const Schedule placed = OnRail(flat, rail);
  ASSERT_EQ(placed.steps.size(), flat.steps.size());
  for (std::size_t i = 0; i < flat.steps.size(); ++i) {
    Step expected = flat.steps[i];
    if (Communicates(expected.kind)) expected.peer = rail[Index(expected.peer)];
    EXPECT_EQ(placed.steps[i], expected);
  }
}

}  // namespace
}  // namespace ringlet::collective
