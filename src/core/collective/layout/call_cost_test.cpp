#include "collective/algorithm/algorithm.hpp"

#include <gtest/gtest.h>

#include "collective/algorithm/hierarchy.hpp"

namespace ringlet::collective {
namespace {

constexpr CostModel kModel{.local = {.latency_ns = 1000, .overhead_ns = 100, .mb_per_s = 1000},
                           .remote = {.latency_ns = 9000, .overhead_ns = 1000, .mb_per_s = 100},
                           .reduce_mb_per_s = 1000};

std::uint64_t TimeOf(Algorithm algorithm, CallKind kind, std::size_t bytes, std::uint32_t ranks,
                     std::uint32_t hosts) {
  const Groups groups = EvenGroups(ranks, hosts);
  return TimeNs(algorithm, {.kind = kind, .count = bytes, .type = DataType::kUint8},
                {.order = InOrder(groups), .groups = groups, .sharing = groups}, kModel);
}

TEST(Cost, SumsRoundsAndBytes) {
  EXPECT_EQ(TimeOf(Algorithm::kRing, CallKind::kAllReduce, 0, 4, 1), 6u * 1100);
  EXPECT_EQ(TimeOf(Algorithm::kDoubling, CallKind::kAllReduce, 0, 4, 1), 2u * 1100);
  // 4000 bytes take 1000 ns per share: 6 rounds, 3 of them with an addition.
  EXPECT_EQ(TimeOf(Algorithm::kRing, CallKind::kAllReduce, 4000, 4, 1), 6u * 2100 + 3 * 1000);
  EXPECT_EQ(TimeOf(Algorithm::kBinomial, CallKind::kBroadcast, 0, 8, 1), 3u * 1100);
}

TEST(Cost, DependsOnTheLinksBetweenHosts) {
  EXPECT_EQ(TimeOf(Algorithm::kRing, CallKind::kAllReduce, 0, 4, 2), 6u * 10000);
  // Both ranks of a host send to the other host: a fifth of an overhead more.
  EXPECT_EQ(TimeOf(Algorithm::kDoubling, CallKind::kAllReduce, 0, 4, 2), 1100u + 10000 + 200);
}

TEST(Cost, CountsAPostAndACopyOfEachByteInSharedMemory) {
  struct Row {
    Algorithm algorithm;
    CallKind kind;
    std::uint64_t between, on_hosts;
  };
  using enum Algorithm;
  // 100 bytes take a post and half of 100 ns to copy, and 100 ns more to add up.
  constexpr std::uint64_t kCopy = 150, kReduce = 250;
  for (const Row& row :
       {Row{Hierarchical(Within::kMemory, Between::kRing), CallKind::kAllReduce, 20'000 + 1000,
            kReduce + kCopy},
        Row{Hierarchical(Within::kMemory, Between::kDoubling), CallKind::kAllReduce, 10'000 + 1000,
            kReduce + kCopy},
        Row{Hierarchical(Within::kMemory, Between::kDirect), CallKind::kAllReduce, 11'000 + 100,
            kReduce + kCopy},
        Row{Hierarchical(Within::kMemory, Between::kRing), CallKind::kBroadcast, 11'000, kCopy},
        Row{Hierarchical(Within::kMemory, Between::kDoubling), CallKind::kReduce, 11'000 + 100,
            kReduce},
        Row{Hierarchical(Within::kMemory, Between::kDirect), CallKind::kReduce, 11'000 + 100,
            kReduce},
        Row{Hierarchical(Within::kMemory, Between::kRing), CallKind::kAllGather, 10'000 + 4000,
            300 + 500},
        Row{Hierarchical(Within::kMemory, Between::kRing), CallKind::kReduceScatter, 10'000 + 4000,
            1300 + 400 + 300}})
    EXPECT_EQ(TimeOf(row.algorithm, row.kind, 100, 8, 2), row.between + row.on_hosts)
        << Name(row.algorithm) << " for " << Name(row.kind);
  EXPECT_EQ(TimeOf(Hierarchical(Within::kMemory, Between::kDirect), CallKind::kBarrier, 0, 8, 2),
            10'000u + 2 * 100);
  // All four ranks of a host send to the other host, and take turns at the NIC.
  constexpr std::uint64_t kBytes = 4 * kShardElementsMin;
  EXPECT_EQ(
      TimeOf(Hierarchical(Within::kMemory, Between::kDoubling), CallKind::kAllReduce, kBytes, 8, 2),
      10'000 + 3 * 200 + 10 * kBytes + 2 * (100 + kBytes / 2) + kBytes);
}

TEST(Cost, CountsASingleRankPerHostForSmallMessages) {
  // Steps: into one rank, between hosts, and out again. Larger messages take turns at the NIC.
  const auto time = [](std::size_t bytes) {
    return TimeOf(Hierarchical(Within::kLinks, Between::kDoubling), CallKind::kAllReduce, bytes, 8,
                  2);
  };
  EXPECT_EQ(time(0), 2u * (1000 + 3 * 100) + 10000);
  EXPECT_GT(time(4 * kShardElementsMin), 2u * (1000 + 3 * 100) + 10000 + 3 * 200);
}

TEST(Cost, CountsASingleDelayForDirectExchanges) {
  const auto time = [](std::size_t bytes, std::uint32_t ranks, std::uint32_t hosts) {
    return TimeOf(Hierarchical(Within::kLinks, Between::kDirect), CallKind::kAllReduce, bytes,
                  ranks, hosts);
  };
  EXPECT_EQ(time(0, 8, 4), 2u * 1100 + 9000 + 3 * 1000);
  // 100 bytes take 100 and 100 ns within the host, and 3 * 1000 ns at a host's NIC between hosts.
  // Four additions.
  EXPECT_EQ(time(100, 8, 4), 2u * (1100 + 100) + 100 + 9000 + 3 * 1000 + 3 * 1000 + 3 * 100);
  EXPECT_EQ(TimeOf(Algorithm::kDirect, CallKind::kAllReduce, 0, 4, 4), 9000u + 3 * 1000);
}

TEST(Cost, CountsTwoTreeEdgesPerHostOfSeveralRanks) {
  const auto of_4000_bytes = [](std::uint32_t ranks, std::uint32_t hosts) {
    return TimeOf(Algorithm::kDoubleTree, CallKind::kBroadcast, 4000, ranks, hosts) -
           TimeOf(Algorithm::kDoubleTree, CallKind::kBroadcast, 0, ranks, hosts);
  };
  EXPECT_EQ(of_4000_bytes(4, 4), 40'000u);
  EXPECT_EQ(of_4000_bytes(8, 4), 80'000u);
  EXPECT_EQ(of_4000_bytes(4, 1), 4'000u);
}

// A hop takes 1100 ns within a host and 10000 between two, a byte 1 ns and 10, adding a byte 1 ns.
TEST(Cost, MatchesTheModelForAllReduce) {
  const auto time = [](Algorithm algorithm, std::size_t bytes, std::uint32_t ranks,
                       std::uint32_t hosts) {
    return TimeOf(algorithm, CallKind::kAllReduce, bytes, ranks, hosts);
  };
  EXPECT_EQ(time(Algorithm::kDirect, 100, 4, 1), 1000u + 3 * 100 + 300 + 300);
  EXPECT_EQ(time(Algorithm::kDirect, 100, 4, 2),
            (1000u + 100 + 100) + (9000 + 2 * 1000 + 10 * 400) + 300)
      << "one message to the mate, two of each rank of the host to others";
  EXPECT_EQ(time(Algorithm::kDoubling, 100, 3, 1), 2u * 1200 + 100 + 1200 + 100)
      << "the third rank gives its part before and takes the result after";
  EXPECT_EQ(time(Algorithm::kHalving, 400, 4, 1), 2u * 1300 + 200 + 2 * 1200 + 100);
  EXPECT_EQ(time(Algorithm::kHalving, 400, 4, 2), 2u * 1300 + 200 + 2 * 12'200 + 100);
  EXPECT_EQ(time(Algorithm::kDoubleTree, 100, 4, 1), 2u * (2 * 1200 + 100) + 100);
  EXPECT_EQ(time(Algorithm::kDoubleTree, 100, 4, 2), 2u * (1200 + 11'000 + 2000) + 100);
  EXPECT_EQ(time(Hierarchical(Within::kLinks, Between::kRing), 100, 8, 2),
            2u * (1000 + 3 * 100 + 300) + 300 + 2 * 10'000 + 1000);
  EXPECT_EQ(time(Hierarchical(Within::kLinks, Between::kDoubling), 100, 8, 4),
            2u * (1000 + 100 + 100) + 100 + 2 * 11'000);
}

TEST(Cost, MatchesTheModelForBroadcastAndReduce) {
  struct Row {
    Algorithm algorithm;
    std::uint32_t ranks, hosts;
    std::uint64_t broadcast, adding;
  };
  for (const Row& row :
       {Row{Algorithm::kBinomial, 4, 2, 1200 + 11'000, 200},
        Row{Algorithm::kDoubleTree, 4, 1, 2 * 1200 + 100, 100},
        Row{Hierarchical(Within::kLinks, Between::kDoubling), 8, 2, 11'000 + 2 * 1200, 300},
        Row{Hierarchical(Within::kLinks, Between::kDoubling), 8, 4, 2 * 11'000 + 1200, 300},
        Row{Algorithm::kDirect, 4, 1, 1000 + 3 * 100 + 300, 300},
        Row{Hierarchical(Within::kLinks, Between::kDirect), 8, 2, 11'000 + 2 * 1200, 300},
        Row{Hierarchical(Within::kLinks, Between::kDirect), 8, 4, 15'000 + 1200, 400},
        Row{Algorithm::kRing, 4, 2, 2 * 1100 + 10'000 + 1000, 100}}) {
    SCOPED_TRACE(testing::Message() << Name(row.algorithm) << ", " << row.hosts << " hosts");
    EXPECT_EQ(TimeOf(row.algorithm, CallKind::kBroadcast, 100, row.ranks, row.hosts),
              row.broadcast);
    EXPECT_EQ(TimeOf(row.algorithm, CallKind::kReduce, 100, row.ranks, row.hosts),
              row.broadcast + row.adding);
  }
}

TEST(Cost, MatchesTheModelForAllGatherAndReduceScatter) {
  struct Row {
    Algorithm algorithm;
    std::uint32_t ranks, hosts;
    std::uint64_t all_gather;
  };
  for (const Row& row : {Row{Algorithm::kDoubling, 4, 1, 1200 + 1300},
                         Row{Algorithm::kBruck, 4, 2, 1200 + 10'000 + 200 + 4000},
                         Row{Algorithm::kHalving, 3, 1, 2 * 1100 + 300 + 1200 + 1300},
                         Row{Algorithm::kDirect, 4, 1, 1000 + 3 * 100 + 300},
                         Row{Hierarchical(Within::kLinks, Between::kRing), 8, 2,
                             9000 + 1000 + 16'000 + 1000 + 6 * 100 + 800},
                         Row{Algorithm::kRing, 4, 2, 3 * 11'000}}) {
    SCOPED_TRACE(testing::Message() << Name(row.algorithm) << ", " << row.ranks << " ranks");
    std::size_t cases = 0;
    for (const AlgorithmCase& one : RowOf(row.algorithm).cases) {
      const bool adds = one.kind == CallKind::kReduceScatter;
      if (!adds && one.kind != CallKind::kAllGather) continue;
      ++cases;
      EXPECT_EQ(TimeOf(row.algorithm, one.kind, 100, row.ranks, row.hosts),
                row.all_gather + (adds ? (row.ranks - 1) * 100 : 0));
    }
    EXPECT_GT(cases, 0u);
  }
}

TEST(Cost, MatchesTheModelForAllToAllGatherScatterAndBarrier) {
  // Two rounds with two blocks each, which are packed and unpacked.
  EXPECT_EQ(TimeOf(Algorithm::kBruck, CallKind::kAllToAll, 100, 4, 1), 2u * (1100 + 200 + 400));
  EXPECT_EQ(TimeOf(Algorithm::kDirect, CallKind::kAllToAll, 100, 4, 1), 1000u + 3 * 100 + 300);
  EXPECT_EQ(TimeOf(Algorithm::kDirect, CallKind::kGather, 100, 4, 1), 1000u + 3 * 100 + 300);
  EXPECT_EQ(TimeOf(Algorithm::kDirect, CallKind::kScatter, 100, 4, 2), 9000u + 3 * 1000 + 3000);
  EXPECT_EQ(TimeOf(Algorithm::kDissemination, CallKind::kBarrier, 0, 5, 1), 3u * 1100);
}

TEST(Cost, IsZeroForASingleRank) {
  EXPECT_EQ(TimeOf(Algorithm::kRing, CallKind::kAllReduce, 4000, 1, 1), 0u);
}

}  // namespace
}  // namespace ringlet::collective
