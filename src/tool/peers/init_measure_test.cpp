#include "tool/peers/init_measure.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <thread>

namespace ringlet::cli {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<comm::Process> ProcessFor(std::string shape) {
  auto process = comm::Process::Start({{"RINGLET_BOOTSTRAP", std::move(shape)},
                                       {"RINGLET_SOCKET_IFNAME", "=lo"},
                                       {"RINGLET_SOCKET_FAMILY", "AF_INET"},
                                       {"RINGLET_NODE_LEADER", "0"},
                                       {"RINGLET_INIT_TIMEOUT", "30"},
                                       {"RINGLET_DEBUG", "NONE"}});
  EXPECT_TRUE(process.ok());
  return *std::move(process);
}

void ExpectSound(const Repetition& one) {
  EXPECT_GT(one.total_ms, 0);
  const Phases& phases = one.phases;
  EXPECT_GT(phases.check_in, 0);
  for (const double part : {phases.roster, phases.connect, phases.go}) EXPECT_GE(part, 0);
  EXPECT_NEAR(phases.check_in + phases.roster + phases.connect + phases.go, one.total_ms, 1e-6);
  EXPECT_GT(one.bytes, 100);
  EXPECT_GT(one.system_calls, 5);
}

class RepeatOver : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Shapes, RepeatOver, testing::Values("tree", "ring"));

TEST_P(RepeatOver, AProcessHoldsAllRanks) {
  const auto process = ProcessFor(GetParam());
  const bool tree = std::string(GetParam()) == "tree";
  Team alone;
  for (int i = 0; i < 2; ++i) {
    const auto one = Repeat(process, alone, {.ranks = 9, .tree = tree});
    ASSERT_TRUE(one.ok()) << one.error().message;
    ExpectSound(*one);
    EXPECT_NEAR(one->connections, tree ? (9 + 8) / 9.0 : 2, 1e-9);
  }
}

TEST(RepeatTest, AProcessMayHoldASingleRank) {
  Team alone;
  const auto one = Repeat(ProcessFor("tree"), alone, {.ranks = 1});
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_GT(one->total_ms, 0);
}

TEST(RepeatTest, ThreeProcessesShareTheRanksAndAgreeOnTheResult) {
  const auto first = ProcessFor("tree");
  const auto id = comm::CreateUniqueId(first);
  ASSERT_TRUE(id.ok());
  std::vector<Result<Repetition>> results(3, Error{Code::kAborted, "not run"});
  std::vector<std::thread> threads;
  for (std::uint32_t index = 0; index < 3; ++index)
    threads.emplace_back([&, index] {
      const auto process = index == 0 ? first : ProcessFor("tree");
      auto team = Team::Join(process, *id, index, 3);
      ASSERT_TRUE(team.ok()) << team.error().message;
      results[index] = Repeat(process, *team, {.ranks = 11, .processes = 3});
      EXPECT_TRUE(team->Barrier().ok());
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) {
    ASSERT_TRUE(result.ok()) << result.error().message;
    ExpectSound(*result);
    EXPECT_EQ(*result, *results[0]);
  }
}

TEST(JoinAllTest, TheShareSpansItsFirstAndLastRank) {
  const auto process = ProcessFor("ring");
  const auto id = comm::CreateUniqueId(process);
  ASSERT_TRUE(id.ok());
  const Baseline before = ReadBaseline(*process);
  const auto joined = JoinAll(process, {*id}, {.first = 0, .count = 5}, 5, before);
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  ASSERT_EQ(joined->controls.size(), 5u);
  std::vector<Instant> rosters, standing;
  for (const auto& control : joined->controls) {
    rosters.push_back(control->milestones().roster);
    standing.push_back(control->milestones().standing);
  }
  const JoinShare& share = joined->share;
  EXPECT_EQ(share.first_roster, std::ranges::min(rosters));
  EXPECT_EQ(share.last_roster, std::ranges::max(rosters));
  EXPECT_EQ(share.first_standing, std::ranges::min(standing));
  EXPECT_EQ(share.last_standing, std::ranges::max(standing));
  EXPECT_LE(share.begun, share.first_roster);
  EXPECT_GT(share.cpu, Instant(0));
  EXPECT_LE(share.cpu, ReadBaseline(*process).cpu - before.cpu);
}

TEST(JoinAllTest, NamesAMissingRank) {
  auto process = comm::Process::Start(
      {{"RINGLET_SOCKET_IFNAME", "=lo"}, {"RINGLET_INIT_TIMEOUT", "1"}, {"RINGLET_DEBUG", "NONE"}});
  ASSERT_TRUE(process.ok());
  const auto id = comm::CreateUniqueId(*process);
  ASSERT_TRUE(id.ok());
  const auto joined = JoinAll(*process, {*id}, {.first = 0, .count = 3}, 4, {});
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.error().code, Code::kTimeout);
  EXPECT_THAT(joined.error().message, testing::HasSubstr("rank 3"));
}

TEST(CombineTest, SpansFromTheEarliestStartToTheLatestEnd) {
  const JoinShare one{.begun = milliseconds(100),
                      .first_roster = milliseconds(110),
                      .last_roster = milliseconds(115),
                      .first_standing = milliseconds(118),
                      .last_standing = milliseconds(120),
                      .cpu = milliseconds(7),
                      .connections = 3,
                      .bytes = 100,
                      .system_calls = 20};
  JoinShare other = one;
  other.begun = milliseconds(99);
  other.first_roster = milliseconds(107);
  other.last_roster = milliseconds(112);
  other.first_standing = milliseconds(117);
  other.last_standing = milliseconds(125);
  const Repetition all = Combine({one, other}, 4);
  EXPECT_EQ(all, (Repetition{.total_ms = 26,
                             .phases = {.check_in = 8, .roster = 8, .connect = 2, .go = 8},
                             .cpu_ms = 14,
                             .connections = 1.5,
                             .bytes = 50,
                             .system_calls = 10}));
}

// In a ring, the first rank stands before the last one has processed its roster.
TEST(CombineTest, APhaseIsNeverNegative) {
  JoinShare share{.begun = milliseconds(100),
                  .first_roster = milliseconds(110),
                  .last_roster = milliseconds(121),
                  .first_standing = milliseconds(118),
                  .last_standing = milliseconds(121)};
  EXPECT_EQ(Combine({share}, 1).phases,
            (Phases{.check_in = 10, .roster = 11, .connect = 0, .go = 0}));
  share.last_standing = milliseconds(120);
  EXPECT_EQ(Combine({share}, 1).phases,
            (Phases{.check_in = 10, .roster = 11, .connect = 0, .go = 0}));
}

TEST(JoinShareTest, RoundTripsAndRejectsTruncatedBytes) {
  const JoinShare share{.begun = milliseconds(1), .cpu = milliseconds(2), .system_calls = 9};
  Bytes bytes = Encode(share);
  const auto back = DecodeJoinShare(bytes);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, share);
  bytes.pop_back();
  EXPECT_FALSE(DecodeJoinShare(bytes).ok());
}

}  // namespace
}  // namespace ringlet::cli
