#include "discovery/placement.hpp"

#include <gtest/gtest.h>

#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::discovery {
namespace {

using os::FileTree;
using os::TempTree;
using topology::CpuSet;

std::uint32_t Numa(std::string_view allowed, std::uint32_t local_rank) {
  topology::HostView host;
  host.numa_nodes = {
      {0, CpuSet::Of(0, 3), 0, {}}, {1, CpuSet(), 0, {}}, {2, CpuSet::Of(4, 7), 0, {}}};
  return NumaOf(host, CpuSet::Parse(allowed).value(), local_rank);
}

TEST(PlacementTest, ABoundRankIsOnTheNodeOfMostOfItsCpus) {
  for (const std::uint32_t local_rank : {0u, 1u, 5u}) {
    EXPECT_EQ(Numa("0-1", local_rank), 0u);
    EXPECT_EQ(Numa("6", local_rank), 2u);
    EXPECT_EQ(Numa("3-5", local_rank), 2u);
  }
}

TEST(PlacementTest, UnboundRanksAreSpreadOverNodes) {
  EXPECT_EQ(Numa("0-7", 0), 0u);
  EXPECT_EQ(Numa("0-7", 1), 2u);
  EXPECT_EQ(Numa("0-7", 2), 0u);
}

TEST(PlacementTest, AnUnknownMaskIsIgnored) {
  EXPECT_EQ(Numa("100-200", 0), 0u);
  EXPECT_EQ(Numa("", 1), 1u);
}

TEST(PlacementTest, TheMaskIsReadFromTheThreadThenTheProcess) {
  TempTree tree;
  tree.Write("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\n");
  const FileTree files = FileTree::Open(tree.root()).value();
  EXPECT_EQ(ToString(AllowedCpus(files).value()), "0-7");
  tree.Write("proc/thread-self/status", "Cpus_allowed_list:\t3\n");
  EXPECT_EQ(ToString(AllowedCpus(files).value()), "3");
  tree.Write("proc/thread-self/status", "Cpus_allowed_list:\tnone\n");
  EXPECT_EQ(AllowedCpus(files).error().code, Code::kUnsupported);
  tree.Write("proc/thread-self/status", "Name:\tx\n");
  EXPECT_EQ(AllowedCpus(files).error().code, Code::kUnsupported);
  EXPECT_FALSE(AllowedCpus(FileTree::Open("/").value())->empty());
}

topology::HostView TwoNodesWithGpus() {
  topology::HostView host;
  host.numa_nodes = {{0, CpuSet::Of(0, 3), 0, {}}, {5, CpuSet::Of(4, 7), 0, {}}};
  for (std::uint32_t i = 0; i < 2; ++i) {
    host.pci.push_back({.parent = {topology::PartKind::kNuma, i},
                        .bus = topology::BusId::Of(0, static_cast<std::uint8_t>(i + 1), 0, 0)});
    host.gpus.push_back({.pci = i, .dev = 1 - i, .gcn = ""});
  }
  return host;
}

TEST(PlacementTest, ARankIsOnTheNodeOfItsGpuIfItMayRunThere) {
  const topology::HostView host = TwoNodesWithGpus();
  EXPECT_EQ(FindGpu(host, 0), 1u);
  EXPECT_EQ(FindGpu(host, 1), 0u);
  EXPECT_EQ(FindGpu(host, 2), std::nullopt);
  EXPECT_EQ(NumaOfGpu(host, 1, {}), 5u);
  EXPECT_EQ(NumaOfGpu(host, 0, {}), 0u);
  EXPECT_EQ(NumaOfGpu(host, 1, CpuSet::Of(7, 9)), 5u);
  EXPECT_EQ(NumaOfGpu(host, 1, CpuSet::Of(0, 3)), std::nullopt);
}

TEST(PlacementTest, CpusNearANodeAreRestrictedToTheCallersCpus) {
  const topology::HostView host = TwoNodesWithGpus();
  EXPECT_EQ(ToString(CpusNear(host, 5, {})), "4-7");
  EXPECT_EQ(ToString(CpusNear(host, 5, CpuSet::Of(2, 5))), "4-5");
  EXPECT_TRUE(CpusNear(host, 5, CpuSet::Of(0, 2)).empty());
  topology::HostView flat = host;
  flat.numa_nodes.pop_back();
  EXPECT_TRUE(CpusNear(flat, 0, {}).empty()) << "there is nowhere else";
}

}  // namespace
}  // namespace ringlet::discovery
