#include "bootstrap/roster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/value/prng.hpp"

namespace ringlet::bootstrap {
namespace {

MemberAddress RosterRank(std::uint32_t rank) {
  MemberAddress fake_rank;
  fake_rank.addresses = {Address::Ipv4(10, 0, 0, static_cast<std::uint8_t>(rank / 4),
                                       static_cast<std::uint16_t>(4000 + rank))};
  fake_rank.host = "node-" + std::to_string(rank / 4);
  fake_rank.pid = 100 + rank;
  fake_rank.peer_info = Bytes(100, std::byte{9});
  fake_rank.peer_info[50] = static_cast<std::byte>(rank);
  return fake_rank;
}

// Ranks first to first + count - 1, four per host. With node leaders, the first rank of each host
// checks in for the others.
std::vector<RankRecord> FakeRanks(std::uint32_t first, std::uint32_t count, bool node_leaders) {
  std::vector<RankRecord> records;
  for (std::uint32_t rank = first; rank < first + count; ++rank) {
    Writer out;
    Encode(out, RosterRank(rank));
    records.push_back({out.Take(), node_leaders ? rank / 4 * 4 : rank});
  }
  return records;
}

void ExpectFakeRanks(const Roster& roster, bool node_leaders) {
  for (std::uint32_t rank = roster.first(); rank < roster.first() + roster.size(); ++rank) {
    const auto fake_rank = roster.At(Rank{rank});
    ASSERT_TRUE(fake_rank.ok());
    EXPECT_EQ(*fake_rank, RosterRank(rank));
    EXPECT_EQ(Index(*roster.NodeLeaderOf(Rank{rank})), node_leaders ? rank / 4 * 4 : rank);
  }
}

TEST(Roster, RoundTrips) {
  for (const bool node_leaders : {false, true})
    for (const std::uint32_t first : {0u, 5u}) {
      const Roster built = Roster::Build(first, FakeRanks(first, 13, node_leaders));
      const auto parsed = Roster::Parse(Slice(built.bytes().bytes));
      ASSERT_TRUE(parsed.ok()) << parsed.error().message;
      EXPECT_EQ(parsed->size(), 13u);
      EXPECT_EQ(parsed->first(), first);
      EXPECT_EQ(parsed->digest(), built.digest());
      ExpectFakeRanks(*parsed, node_leaders);
    }
}

TEST(Roster, EncodesRanksOfAHostCompactly) {
  const Roster roster = Roster::Build(0, FakeRanks(0, 4000, true));
  EXPECT_LT(roster.bytes().bytes.size() / 4000, 65u) << "a record has 140 bytes";
  EXPECT_EQ(roster.node_leader_count(), 1000u);
  EXPECT_EQ(roster.NodeLeader(7), Rank{28});
}

TEST(Roster, ListsNodeLeadersInTheOrderOfTheirLocalRanks) {
  std::vector<RankRecord> records = FakeRanks(0, 6, false);
  for (const auto& [rank, node_leader] : {std::pair{0u, 4u}, {1u, 3u}, {2u, 4u}, {5u, 3u}})
    records[rank].node_leader = node_leader;
  const Roster roster = Roster::Build(0, records);
  ASSERT_EQ(roster.node_leader_count(), 2u);
  EXPECT_EQ(roster.NodeLeader(0), Rank{4}) << "it speaks for rank 0";
  EXPECT_EQ(roster.NodeLeader(1), Rank{3});
  ASSERT_TRUE(Roster::Parse(roster.bytes()).ok());
}

TEST(Roster, ParsingRefusesEveryCorruption) {
  const Roster roster = Roster::Build(0, FakeRanks(0, 3, true));
  const View whole = roster.bytes().bytes;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Bytes damaged(whole.begin(), whole.end());
    damaged[i] ^= std::byte{4};
    EXPECT_FALSE(Roster::Parse(Slice(View(damaged))).ok()) << "byte " << i;
    EXPECT_FALSE(Roster::Parse(Slice(whole.first(i))).ok()) << "cut at " << i;
  }
}

TEST(Roster, DescribesKnownRanksByHostAndPid) {
  const Roster roster = Roster::Build(0, FakeRanks(0, 6, false));
  EXPECT_EQ(roster.DescribeRank(Rank{5}), "rank 5 (host node-1, pid 105)");
  EXPECT_EQ(roster.DescribeRank(Rank{6}), "rank 6");
  EXPECT_EQ(Roster().DescribeRank(Rank{0}), "rank 0");
}

TEST(Roster, ASubsetRenumbersRanksAndKeepsNodeLeaders) {
  const Roster roster = Roster::Build(0, FakeRanks(0, 12, true));
  const auto some = roster.Subset({9, 2, 11, 3});
  ASSERT_TRUE(some.ok());
  ASSERT_EQ(some->size(), 4u);
  EXPECT_EQ(*some->At(Rank{0}), RosterRank(9));
  EXPECT_EQ(*some->At(Rank{3}), RosterRank(3));
  EXPECT_EQ(*some->NodeLeaderOf(Rank{2}), Rank{0}) << "11 was with 9";
  EXPECT_EQ(*some->NodeLeaderOf(Rank{3}), Rank{1});
}

TEST(Roster, WithoutSomeRanksItRenumbersTheOthersOnTheSameBuffer) {
  const Roster whole = Roster::Build(0, FakeRanks(0, 12, true));
  const auto survivors =
      std::make_shared<Survivors>(12, std::vector<std::uint32_t>{0, 4, 5, 6, 7, 11});
  const Roster roster = whole.Without(survivors);
  EXPECT_EQ(roster.bytes().bytes.data(), whole.bytes().bytes.data());
  ASSERT_EQ(roster.size(), 6u);
  EXPECT_EQ(*roster.At(Rank{0}), RosterRank(1));
  EXPECT_EQ(*roster.At(Rank{5}), RosterRank(10));
  EXPECT_EQ(roster.DescribeRank(Rank{3}), "rank 3 (host node-2, pid 108)");
  EXPECT_EQ(roster.DescribeRank(Rank{6}), "rank 6");
  EXPECT_EQ(*roster.NodeLeaderOf(Rank{2}), Rank{0}) << "ranks 1 and 3, after the death of rank 0";
  EXPECT_EQ(*roster.NodeLeaderOf(Rank{5}), Rank{3});
  EXPECT_EQ(roster.PlaceOf(Rank{0}, 8), (TreePlace{{}, {1, 2, 3}}));
  const auto some = roster.Subset({5, 0});
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(*some->At(Rank{0}), RosterRank(10));
  EXPECT_EQ(*some->At(Rank{1}), RosterRank(1));
  const auto fewer = std::make_shared<Survivors>(12, std::vector<std::uint32_t>{0, 1});
  EXPECT_EQ(*roster.Without(fewer).At(Rank{0}), RosterRank(2)) << "counted in the buffer";
}

TEST(RosterCache, SharesEqualRostersWithoutOwningThem) {
  RosterCache roster_cache;
  const Roster built = Roster::Build(0, FakeRanks(0, 5, true));
  const auto first = roster_cache.Adopt(Slice(built.bytes().bytes));
  const auto second = roster_cache.Adopt(Slice(built.bytes().bytes));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->bytes().bytes.data(), second->bytes().bytes.data()) << "one copy";
  ExpectFakeRanks(*second, true);
  std::weak_ptr<const Bytes> alive = first->bytes().owner;
  EXPECT_EQ(alive.use_count(), 2);
  Bytes damaged(built.bytes().bytes.begin(), built.bytes().bytes.end());
  damaged.back() ^= std::byte{1};
  EXPECT_FALSE(roster_cache.Adopt(Slice(View(damaged))).ok());
}

TEST(RosterInbox, FindsNodeLeadersBeforeItIsComplete) {
  const Roster built = Roster::Build(0, FakeRanks(0, 400, true));
  const View whole = built.bytes().bytes;
  RosterInbox inbox;
  std::uint32_t known = 0;
  std::size_t first_known_at = 0, all_known_at = 0;
  for (std::size_t at = 0; at < whole.size();) {
    const std::size_t piece = std::min<std::size_t>(whole.size() - at, 97);
    ASSERT_TRUE(inbox.Push(Slice(whole.subspan(at, piece))).ok());
    at += piece;
    for (;;) {
      const auto found = inbox.FindNodeLeader(known);
      ASSERT_TRUE(found.ok()) << found.error().message;
      if (!*found) break;
      EXPECT_EQ((*found)->first, Rank{known * 4});
      EXPECT_EQ((*found)->second, RosterRank(known * 4));
      if (known++ == 0) first_known_at = at;
      all_known_at = at;
    }
  }
  EXPECT_EQ(known, 100u);
  EXPECT_LT(first_known_at, whole.size() / 3);
  EXPECT_LT(all_known_at, whole.size() * 3 / 4) << "those spoken for come behind";
  ASSERT_TRUE(inbox.complete());
  const auto roster = inbox.Finish(nullptr);
  ASSERT_TRUE(roster.ok());
  ExpectFakeRanks(*roster, true);
}

TEST(RosterInbox, DoesNotCopyPiecesOfASingleBuffer) {
  const Roster built = Roster::Build(0, FakeRanks(0, 50, true));
  const Slice whole = built.bytes();
  RosterInbox inbox;
  for (std::size_t at = 0; at < whole.bytes.size(); at += 100)
    ASSERT_TRUE(inbox
                    .Push(Slice(whole.bytes.subspan(
                                    at, std::min<std::size_t>(100, whole.bytes.size() - at)),
                                whole.owner))
                    .ok());
  const auto roster = inbox.Finish(nullptr);
  ASSERT_TRUE(roster.ok());
  EXPECT_EQ(roster->bytes().bytes.data(), whole.bytes.data());
}

// The head is refused before memory is reserved for its numbers.
TEST(RosterInbox, RefusesAContradictoryHeader) {
  struct Case {
    std::size_t place;
    std::uint32_t number;
    const char* what;
  };
  const Roster built = Roster::Build(7, FakeRanks(7, 6, true));
  for (const auto& [place, number, what] :
       {Case{4, 0xffffffff, "too many bytes"}, Case{4, 40, "no room for the index"},
        Case{16, 0xfffffffe, "ranks that do not exist"}, Case{20, 0, "no rank"},
        Case{24, 0, "no node leader"}, Case{24, 7, "more node leaders than ranks"}}) {
    Bytes head(built.bytes().bytes.begin(), built.bytes().bytes.begin() + 28);
    ASSERT_TRUE(RosterInbox().Push(Slice(View(head))).ok());
    Writer other;
    std::ranges::copy(other.U32(number).view(), head.begin() + static_cast<std::ptrdiff_t>(place));
    const Status pushed = RosterInbox().Push(Slice(View(head)));
    ASSERT_FALSE(pushed.ok()) << what;
    EXPECT_THAT(pushed.error().message, testing::HasSubstr("contradict each other")) << what;
  }
}

TEST(RosterInbox, RefusesMalformedAndExcessBytes) {
  RosterInbox rubbish;
  EXPECT_FALSE(rubbish.Push(Slice(View(Bytes(64, std::byte{3})))).ok());
  const Roster built = Roster::Build(0, FakeRanks(0, 2, false));
  RosterInbox inbox;
  ASSERT_TRUE(inbox.Push(built.bytes()).ok());
  EXPECT_FALSE(inbox.Push(Slice(View(Bytes(1, std::byte{0})))).ok());
}

}  // namespace
}  // namespace ringlet::bootstrap
