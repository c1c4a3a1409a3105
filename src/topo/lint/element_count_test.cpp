#include "topo/lint/element_count.hpp"

#include <gtest/gtest.h>

#include "topo/edit/synthetic.hpp"

namespace ringlet::topology {
namespace {

/// A GPU with 18 links to as many neighbours, and a NIC at its NUMA node.
HostView OneGpu() {
  HostView view = ParseSynthetic("gpu, nic").value();
  view.pci.pop_back();
  view.nics[0].parent = {PartKind::kNuma, 0};
  for (std::uint64_t i = 0; i < 18; ++i)
    view.gpus[0].links.push_back({.target = BusId{0x5000 + (i << 4)}, .count = 1});
  return view;
}

TEST(ElementCountTest, PredictsMeasuredCountsOfRanksOnOneGpu) {
  EXPECT_EQ(PredictFused(OneGpu(), 12).elements, 233u);
  EXPECT_EQ(PredictFused(OneGpu(), 14).elements, 271u);
  EXPECT_EQ(PredictFused(OneGpu(), 0).elements, CountElements(OneGpu()));
}

TEST(ElementCountTest, CountsASkeletonAsCompleted) {
  HostView view = ParseSynthetic("8x(switch: gpu h100-sxm5, nic)").value();
  const std::size_t whole = CountElements(view);
  EXPECT_EQ(PredictFused(view, 0).elements, whole);
  view.gpus.clear();
  view.nics.clear();
  view.nets.clear();
  EXPECT_EQ(CountGpus(view), 8u);
  EXPECT_EQ(PredictFused(view, 0).elements, whole);
}

TEST(ElementCountTest, TheWorstCaseAddsTheViewOfEachRank) {
  const HostView view = ParseSynthetic("8x(switch: gpu h100-sxm5 switch, nic)").value();
  const FusedCount count = PredictFused(view, 8);
  EXPECT_LT(count.elements, count.at_worst);
  // 1 system; for each rank: cpu, 8 switches, its GPU's function, 8 of NICs with nic and net, gpu
  // and its link.
  EXPECT_EQ(count.at_worst, 1u + 8u * (1 + 8 + 1 + 24 + 2));
}

}  // namespace
}  // namespace ringlet::topology
