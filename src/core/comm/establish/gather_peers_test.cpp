#include "comm/establish/gather_peers.hpp"

#include <gmock/gmock.h>

#include "comm/establish/ranks_for_test.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "topology/graph/graph.hpp"

namespace ringlet::comm {
namespace {

TEST(PeerTable, IsEqualOnAllRanksAndListsEachHostOnce) {
  // By their ids, ranks 0, 1 and 3 are on one host, and rank 2 is on another.
  std::vector<PeerTable> taken(4);
  RunRanks(
      4,
      [](std::uint32_t rank) {
        return ProcessWith({{"RINGLET_HOSTID", rank == 2 ? "b" : "a"}, {"RINGLET_LINKS", "tcp"}});
      },
      [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
        ASSERT_TRUE(communicator.ok()) << communicator.error().message;
        taken[rank] = (*communicator)->peer_table();
        EXPECT_TRUE(SumOfRanks(**communicator, 10).ok());
      });
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const PeerTable& peer_table = taken[rank];
    EXPECT_EQ(peer_table.peer_infos, taken[0].peer_infos);
    EXPECT_EQ(peer_table.hosts, taken[0].hosts);
    ASSERT_EQ(peer_table.hosts.size(), 2u);
    EXPECT_EQ(peer_table.places[2].host, 1u);
    EXPECT_EQ(peer_table.places[3].host, 0u);
    EXPECT_EQ(peer_table.ranks_on_host, rank == 2 ? 1u : 3u);
    EXPECT_EQ(peer_table.peer_infos[rank].device, rank);
  }
}

TEST(PeerTable, HostsOfASingleShapeKeepTheirNames) {
  PeerTable taken;
  RunRanks(
      4,
      [](std::uint32_t rank) {
        return ProcessWith({{"RINGLET_HOSTID", std::to_string(rank)}, {"RINGLET_LINKS", "tcp"}});
      },
      [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
        ASSERT_TRUE(communicator.ok()) << communicator.error().message;
        if (rank == 3) taken = (*communicator)->peer_table();
      });
  ASSERT_EQ(taken.hosts.size(), 4u);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(taken.peer_infos[rank].host_shape_digest, taken.peer_infos[0].host_shape_digest);
    EXPECT_EQ(taken.hosts[rank].identity, taken.peer_infos[rank].host_hash);
    EXPECT_FALSE(taken.hosts[rank].name.empty());
    EXPECT_EQ(taken.hosts[rank].numa_nodes, taken.hosts[0].numa_nodes);
  }
}

/// Ranks 0 and 1 are on one host, rank 2 is on another. All name device 0.
std::shared_ptr<Process> NamingProcess(std::uint32_t rank, const char* may_share) {
  return ProcessWith({{"RINGLET_HOSTID", rank == 2 ? "b" : "a"},
                      {"RINGLET_LINKS", "tcp"},
                      {"NCCL_MULTI_RANK_GPU_ENABLE", may_share}});
}

TEST(PeerTable, ADuplicateDeviceFailsAndNamesBothRanks) {
  RunRanks(
      3, [](std::uint32_t rank) { return NamingProcess(rank, "0"); },
      [](std::uint32_t rank, const Result<std::unique_ptr<Communicator>>& communicator) {
        ASSERT_FALSE(communicator.ok()) << rank;
        EXPECT_THAT(communicator.error().message,
                    testing::HasSubstr("ranks 0 and 1 are both on device 0 of host"))
            << rank;
      },
      {.device = 0, .names_device = true});
}

TEST(PeerTable, RanksShareADeviceIfTheSettingAllowsIt) {
  RunRanks(
      3, [](std::uint32_t rank) { return NamingProcess(rank, "1"); },
      [](std::uint32_t, const Result<std::unique_ptr<Communicator>>& communicator) {
        EXPECT_TRUE(communicator.ok()) << communicator.error().message;
      },
      {.device = 0, .names_device = true});
}

TEST(PeerTable, GpusOfAnNvLinkDomainBecomeASingleSystem) {
  os::TempTree tree;
  tree.Write("topo.xml",
             "<system version=\"1\"><cpu numaid=\"0\" arch=\"arm64\"><pci busid=\"0008:01:00.0\" "
             "class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"3\" "
             "sm=\"100\" gdr=\"1\" fabric_cluster=\"000000000000000100000000000000ff\" "
             "fabric_clique=\"7\"><nvlink target=\"fffffff:ffff:ff\" count=\"18\" "
             "tclass=\"0x068000\"/></gpu></pci></cpu></system>");
  PeerTable taken;
  RunRanks(
      2,
      [&](std::uint32_t rank) {
        return ProcessWith({{"RINGLET_HOSTID", std::to_string(rank)},
                            {"RINGLET_LINKS", "tcp"},
                            {"NCCL_TOPO_FILE", tree.At("topo.xml")}});
      },
      [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> communicator) {
        ASSERT_TRUE(communicator.ok()) << communicator.error().message;
        if (rank == 1) taken = (*communicator)->peer_table();
      },
      {.device = 3, .names_device = true});
  ASSERT_EQ(taken.hosts.size(), 2u);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(taken.peer_infos[rank].gpu, topology::BusId::Of(8, 1, 0, 0));
    EXPECT_EQ(taken.hosts[rank].gpus[0].rank, rank);
  }
  const auto graph = topology::Build(taken.hosts, {}, {.gpus = topology::GpuRanks::kGiven}).value();
  EXPECT_EQ(graph.hosts().size(), 2u);
  EXPECT_EQ(graph.systems().size(), 1u);
}

}  // namespace
}  // namespace ringlet::comm
