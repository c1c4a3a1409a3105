#include "plan/search/compat_search.hpp"

#include <gtest/gtest.h>

#include "plan/channels/machine_for_test.hpp"

namespace ringlet::plan {
namespace {

PatternGraph Ring(std::string_view words, SearchTrace* search_trace) {
  const MachineForTest machine(words);
  RouteTable table(machine.paths());
  const SearchOptions options;
  NicSelector nets(table, options);
  ChannelSearch search(table, nets, options);
  const SystemFacts facts = FactsOf(table, false);
  const Limits limits(table, nets, GraphId::kRing, false);
  return CompatSearch(table, nets, search, facts, options,
                      [&](GraphId) -> const Limits& { return limits; })
      .Find({GraphId::kRing, Pattern::kRing, 1, kSearchChannelsMax}, search_trace);
}

TEST(CompatSearchTest, SpeedsDescendAndDependOnTheGpu) {
  for (const std::uint32_t capability : {70u, 90u, 100u})
    for (const bool multi_node : {false, true}) {
      const auto speeds = SpeedsOf(capability, multi_node);
      EXPECT_TRUE(std::is_sorted(speeds.rbegin(), speeds.rend()));
    }
  EXPECT_EQ(SpeedsOf(89, true).front(), 48'000u);
  EXPECT_EQ(SpeedsOf(100, true).front(), 96'000u);
}

TEST(CompatSearchTest, TheSearchTraceListsEachStepOnceAndNamesLinks) {
  SearchTrace search_trace;
  const PatternGraph ring = Ring("(numa: (switch: 2 gpu), (switch: 2 gpu))", &search_trace);
  EXPECT_EQ(search_trace.search_steps.size(), ring.searches);
  EXPECT_EQ(ring.channels.size(), 1u);
  bool improved = false, named = false;
  for (const StepOutcome& one : search_trace.search_steps) {
    improved = improved || one.improved;
    named = named || (one.link && *one.link < search_trace.links.size());
  }
  EXPECT_TRUE(improved);
  EXPECT_TRUE(named);
  EXPECT_NE(ring.stopped, StopReason::kNotThere);
}

}  // namespace
}  // namespace ringlet::plan
