#include "topo/paths/host_paths.hpp"

#include <gmock/gmock.h>

#include "topo/edit/synthetic.hpp"

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

HostView FourGpus() {
  return ParseSynthetic("2x(numa: 2 gpu h100-sxm5 switch, 1 nic)").value();
}

TEST(HostPathsTest, FindsThePathsOfAllGpus) {
  HostPaths host = FindHostPaths(FourGpus(), {}).value();
  EXPECT_EQ(host.paths.Of(NodeKind::kGpu).size(), 4u);
  const HostPaths moved = std::move(host);
  EXPECT_EQ(moved.paths.From(moved.graph->NodeOf(Rank{0}), moved.graph->NodeOf(Rank{3})).type,
            PathType::kNvl);
  EXPECT_TRUE(moved.notes.empty());
}

TEST(HostPathsTest, ADriverThatDeniesAccessRefusesNvlinks) {
  EXPECT_FALSE(FindHostPaths(FourGpus(), {.denies_peer_access = true}).ok());
}

TEST(HostPathsTest, RepeatedRanksAreAnErrorOnlyWithoutNcclsRules) {
  HostView view = FourGpus();
  for (Gpu& gpu : view.gpus) gpu.rank = 7;
  EXPECT_THAT(FindHostPaths(view, {}).error().message, HasSubstr("rank 7 is claimed by"));
  const HostPaths host = FindHostPaths(view, {.rules = Rules::kNccl}).value();
  EXPECT_THAT(host.notes, testing::ElementsAre(HasSubstr("duplicate rank")));
  EXPECT_EQ(host.view.gpus.front().rank, std::nullopt);
}

}  // namespace
}  // namespace ringlet::topology
