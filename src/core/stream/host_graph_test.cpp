#include "stream/host_graph.hpp"

#include <gmock/gmock.h>

namespace ringlet::stream {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// 0 -> 1, 0 -> 2, {1, 2} -> 3.
HostGraph Diamond() {
  HostGraph graph;
  EXPECT_EQ(*graph.Add(nullptr, {}), 0u);
  EXPECT_EQ(*graph.Add(nullptr, {0}), 1u);
  EXPECT_EQ(*graph.Add(nullptr, {0}), 2u);
  EXPECT_EQ(*graph.Add(nullptr, {2, 1, 2}), 3u);
  return graph;
}

TEST(HostGraph, DependenciesAreSortedAndUnique) {
  EXPECT_THAT(Diamond().nodes()[3].after, ElementsAre(1, 2));
  EXPECT_THAT(Diamond().Leaves(), ElementsAre(3));
}

TEST(HostGraph, RefusesADependencyOnAMissingNode) {
  HostGraph graph;
  EXPECT_EQ(graph.Add(nullptr, {0}).error().code, Code::kInvalidArgument);
  EXPECT_THAT(graph.nodes(), IsEmpty());
}

TEST(HostGraph, FindsTheNodesBeforeOthers) {
  EXPECT_THAT(Diamond().Before({1}), ElementsAre(true, true, false, false));
  EXPECT_THAT(Diamond().Before({3}), ElementsAre(true, true, true, true));
  EXPECT_THAT(Diamond().Before({}), ElementsAre(false, false, false, false));
}

TEST(HostGraph, SplicesAnotherGraphAfterNodes) {
  HostGraph graph = Diamond();
  const auto leaves = graph.Splice(Diamond(), {1, 2});
  EXPECT_THAT(*leaves, ElementsAre(7));
  EXPECT_THAT(graph.nodes()[4].after, ElementsAre(1, 2));
  EXPECT_THAT(graph.nodes()[7].after, ElementsAre(5, 6));
  EXPECT_THAT(*graph.Splice(HostGraph(), {3}), ElementsAre(3)) << "nothing to splice";
  EXPECT_EQ(graph.Splice(Diamond(), {8}).error().code, Code::kInvalidArgument);
}

TEST(HostGraph, TheEndOfTheLastCopyIsReportedOnce) {
  int ended = 0;
  HostGraph last;
  {
    HostGraph graph = Diamond();
    graph.OnEnd([&] { ++ended; });
    const HostGraph copy = graph;
    static_cast<void>(*last.Splice(copy, {}));
  }
  EXPECT_EQ(ended, 0);
  last = HostGraph();
  EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace ringlet::stream
