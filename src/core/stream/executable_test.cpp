#include "stream/executable.hpp"

#include <gmock/gmock.h>

#include <set>

#include "base/value/prng.hpp"

namespace ringlet::stream {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TaskRef Nothing(std::vector<std::shared_ptr<SerialOrder>> orders = {}) {
  return std::make_shared<const HostTask>(
      HostTask{.run = [] { return Ok(); }, .orders = std::move(orders)});
}

TEST(Divide, AChainIsASingleItem) {
  HostGraph graph;
  for (NodeIndex i = 0; i < 1000; ++i)
    static_cast<void>(
        *graph.Add(Nothing(), i == 0 ? std::vector<NodeIndex>() : std::vector{i - 1}));
  const GraphDivision division = Divide(graph);
  ASSERT_THAT(division.segments, SizeIs(1));
  EXPECT_THAT(division.segments[0].tasks, SizeIs(1000));
  EXPECT_TRUE(division.segments[0].leaf);
  EXPECT_EQ(division.lanes, 1u);
}

TEST(Divide, ANodeWithARepeatedOrderDoesNotDependOnItself) {
  HostGraph graph;
  const auto order = std::make_shared<SerialOrder>();
  static_cast<void>(*graph.Add(Nothing({order, order}), {}));
  static_cast<void>(*graph.Add(Nothing({order, order}), {}));
  const GraphDivision division = Divide(graph);
  ASSERT_THAT(division.segments, SizeIs(1)) << "a chain";
  EXPECT_THAT(division.segments[0].after, SizeIs(0));
}

TEST(Divide, BranchesRunConcurrently) {
  HostGraph graph;
  static_cast<void>(*graph.Add(Nothing(), {}));
  static_cast<void>(*graph.Add(Nothing(), {0}));
  static_cast<void>(*graph.Add(Nothing(), {0}));
  static_cast<void>(*graph.Add(Nothing(), {1, 2}));
  const GraphDivision division = Divide(graph);
  ASSERT_THAT(division.segments, SizeIs(4));
  EXPECT_EQ(division.lanes, 2u);
  EXPECT_NE(division.segments[1].lane, division.segments[2].lane);
  EXPECT_THAT(division.segments[3].after, ElementsAre(1, 2));
  EXPECT_TRUE(division.segments[3].leaf);
  EXPECT_FALSE(division.segments[2].leaf);
}

TEST(Divide, NodesOfASharedOrderRunInSequenceAcrossBranches) {
  const auto order = std::make_shared<SerialOrder>();
  HostGraph graph;
  static_cast<void>(*graph.Add(Nothing({order}), {}));
  static_cast<void>(*graph.Add(Nothing(), {}));
  static_cast<void>(*graph.Add(Nothing({order}), {1}));
  const GraphDivision division = Divide(graph);
  ASSERT_THAT(division.segments, SizeIs(3));
  EXPECT_THAT(division.segments[2].after, ElementsAre(0, 1));
  ASSERT_THAT(division.orders, SizeIs(1));
  EXPECT_EQ(division.orders[0].first, 0u);
  EXPECT_EQ(division.orders[0].last, 2u);
}

/// Returns the segments before this one, direct or indirect.
std::set<std::uint32_t> Ancestors(const GraphDivision& division, std::uint32_t of) {
  std::set<std::uint32_t> all;
  for (const std::uint32_t before : division.segments[of].after) {
    all.insert(before);
    all.merge(Ancestors(division, before));
  }
  return all;
}

TEST(Divide, KeepsEachDependencyOfRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Prng random(seed);
    HostGraph graph;
    std::vector<TaskRef> tasks;
    const auto nodes = static_cast<NodeIndex>(1 + random.Below(12));
    for (NodeIndex i = 0; i < nodes; ++i) {
      std::vector<NodeIndex> after;
      for (NodeIndex before = 0; before < i; ++before)
        if (random.Below(4) == 0) after.push_back(before);
      tasks.push_back(Nothing());
      static_cast<void>(*graph.Add(tasks.back(), after));
    }
    const GraphDivision division = Divide(graph);
    std::vector<std::pair<std::uint32_t, std::size_t>> places(nodes);
    for (std::uint32_t s = 0; s < division.segments.size(); ++s)
      for (std::size_t t = 0; t < division.segments[s].tasks.size(); ++t)
        for (NodeIndex i = 0; i < nodes; ++i)
          if (division.segments[s].tasks[t] == tasks[i]) places[i] = {s, t};
    for (NodeIndex i = 0; i < nodes; ++i) {
      for (const NodeIndex before : graph.nodes()[i].after) {
        if (places[before].first == places[i].first) {
          EXPECT_LT(places[before].second, places[i].second);
        } else {
          EXPECT_EQ(Ancestors(division, places[i].first).count(places[before].first), 1u);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringlet::stream
