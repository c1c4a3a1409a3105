#include "comm/peers/waiting.hpp"

#include <gtest/gtest.h>

namespace ringlet::comm {
namespace {

using topology::CpuSet;

std::vector<CpuSet> Sets(const std::vector<const char*>& lists) {
  std::vector<CpuSet> sets;
  for (const char* list : lists) sets.push_back(CpuSet::Parse(list).value());
  return sets;
}

bool EachHas(const std::vector<const char*>& lists) {
  return HasCoreForEachRank(Sets(lists));
}

TEST(Waiting, RanksBoundToDistinctCoresHaveTheirOwnCores) {
  EXPECT_TRUE(EachHas({"0", "1", "2", "3"}));
  EXPECT_FALSE(EachHas({"0", "1", "0"}));
}

TEST(Waiting, UnboundRanksShareAllCores) {
  EXPECT_TRUE(EachHas({"0-1", "0-1"}));
  EXPECT_FALSE(EachHas({"0-1", "0-1", "0-1"}));
  EXPECT_TRUE(EachHas({"0-3", "0-3", "4-7", "4-7"}));
}

TEST(Waiting, RanksBoundToTheSameCoreShareIt) {
  EXPECT_FALSE(EachHas({"0", "0", "0-7"}));
  EXPECT_FALSE(EachHas({"0-7", "0", "0"}));
  EXPECT_FALSE(EachHas({"0-1", "0-7", "0-1", "0-1"}));
}

TEST(Waiting, FindsAnAssignmentThatMovesEarlierRanks) {
  EXPECT_TRUE(EachHas({"0-2", "0", "0-1"}));
  EXPECT_TRUE(EachHas({"0-3", "0-2", "0-1", "0"}));
  EXPECT_TRUE(EachHas({"0-1", "1-2", "2-3", "3-4", "0"}));
  EXPECT_FALSE(EachHas({"0-1", "1-2", "2-3", "3", "0", "0-3"}));
}

TEST(Waiting, ARankWithUnknownCoresLacksItsOwnCore) {
  EXPECT_FALSE(EachHas({"0-7", ""}));
}

PeerTable TwoHosts() {
  PeerTable peer_table;
  const std::uint64_t hosts[] = {1, 2, 1, 2};
  const char* const cpus[] = {"0", "5", "1", "5"};
  for (std::size_t i = 0; i < 4; ++i) {
    PeerInfo peer_info;
    peer_info.host_hash = hosts[i];
    peer_info.cpus = CpuSet::Parse(cpus[i]).value();
    peer_table.peer_infos.push_back(peer_info);
  }
  return peer_table;
}

TEST(Waiting, SpinsIfTheRanksOfItsHostHaveTheirOwnCores) {
  const PeerTable peer_table = TwoHosts();
  EXPECT_GT(WaitPolicyOf(peer_table, Rank{0}, WaitChoice::kAuto).looks, 0u);
  EXPECT_EQ(WaitPolicyOf(peer_table, Rank{1}, WaitChoice::kAuto).looks, 0u);
  EXPECT_GT(WaitPolicyOf(peer_table, Rank{1}, WaitChoice::kAuto).yields, 0u);
}

TEST(Waiting, ATurnGrowsWithTheRanksOnTheCoresOfARank) {
  PeerTable peer_table;
  for (std::uint32_t rank = 0; rank < 130; ++rank) {
    PeerInfo peer_info;
    peer_info.host_hash = 1;
    peer_info.cpus = CpuSet::Parse(rank == 128 ? "2" : rank == 129 ? "" : "0-1").value();
    peer_table.peer_infos.push_back(peer_info);
  }
  using collective::WaitPolicy;
  const auto turn = [&](std::uint32_t rank) {
    return WaitPolicyOf(peer_table, Rank{rank}, WaitChoice::kAuto).turn;
  };
  EXPECT_EQ(turn(0), WaitPolicy::Sharing(64).turn);
  EXPECT_EQ(turn(128), WaitPolicy::Sharing(1).turn);
  EXPECT_EQ(turn(129), WaitPolicy::Sharing(1).turn) << "unknown cores";
}

TEST(Waiting, TheSettingOverridesTheDefault) {
  const PeerTable peer_table = TwoHosts();
  EXPECT_GT(WaitPolicyOf(peer_table, Rank{1}, WaitChoice::kSpin).looks, 0u);
  const collective::WaitPolicy yield = WaitPolicyOf(peer_table, Rank{0}, WaitChoice::kYield);
  EXPECT_EQ(yield.looks, 0u);
  EXPECT_GT(yield.yields, 0u);
  const collective::WaitPolicy sleep = WaitPolicyOf(peer_table, Rank{0}, WaitChoice::kSleep);
  EXPECT_EQ(sleep.looks + sleep.yields, 0u);
}

}  // namespace
}  // namespace ringlet::comm
