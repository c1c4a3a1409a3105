#include "tool/run/supervisor.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace ringlet::cli {
namespace {

constexpr Instant kStart = std::chrono::hours(1);
constexpr Instant kGrace = std::chrono::seconds(5);

TEST(SupervisorTest, RanksThatEndWellReceiveNoSignal) {
  Supervisor supervisor(2, kGrace);
  supervisor.OnEnds({{Rank{1}, {}}}, kStart);
  EXPECT_FALSE(supervisor.finished());
  supervisor.OnEnds({{Rank{0}, {}}}, kStart);
  EXPECT_TRUE(supervisor.finished());
  EXPECT_EQ(supervisor.TakeOrder(), std::nullopt);
  EXPECT_FALSE(supervisor.first_failure().has_value());
}

TEST(SupervisorTest, AFailureTerminatesAndThenKillsTheOthers) {
  Supervisor supervisor(3, kGrace);
  supervisor.OnEnds({{Rank{2}, {.signal = SIGSEGV}}}, kStart);
  EXPECT_EQ(supervisor.TakeOrder(), SIGTERM);
  EXPECT_EQ(supervisor.Deadline(), kStart + kGrace);
  supervisor.OnTick(kStart + kGrace - Instant(1));
  EXPECT_EQ(supervisor.TakeOrder(), std::nullopt);
  supervisor.OnTick(kStart + kGrace);
  EXPECT_EQ(supervisor.TakeOrder(), SIGKILL);
  EXPECT_EQ(supervisor.Deadline(), std::nullopt);
  supervisor.OnEnds({{Rank{0}, {.signal = SIGKILL}}, {Rank{1}, {.signal = SIGKILL}}},
                    kStart + kGrace);
  EXPECT_TRUE(supervisor.finished());
  ASSERT_TRUE(supervisor.first_failure().has_value());
  EXPECT_EQ(supervisor.first_failure()->rank, Rank{2});
  EXPECT_EQ(supervisor.first_failure()->how.signal, SIGSEGV);
}

TEST(SupervisorTest, BlamesARankThatExitsOnlyWithoutAnotherCause) {
  Supervisor supervisor(3, kGrace);
  supervisor.OnEnds({{Rank{1}, {.status = 7}}}, kStart);
  EXPECT_EQ(supervisor.TakeOrder(), std::nullopt);
  EXPECT_EQ(supervisor.Deadline(), kStart + Supervisor::kSettling);
  supervisor.OnEnds({{Rank{0}, {.status = 8}}}, kStart + Instant(1));
  supervisor.OnTick(kStart + Supervisor::kSettling);
  EXPECT_EQ(supervisor.TakeOrder(), SIGTERM);
  EXPECT_EQ(supervisor.Deadline(), kStart + Supervisor::kSettling + kGrace);
  EXPECT_EQ(supervisor.first_failure()->rank, Rank{1});
  EXPECT_EQ(supervisor.first_failure()->how.status, 7);
}

TEST(SupervisorTest, AKilledRankIsTheCauseAlthoughItsPeersEndedFirst) {
  Supervisor supervisor(4, kGrace);
  supervisor.OnEnds({{Rank{0}, {.status = 1}}, {Rank{3}, {.signal = SIGABRT}}}, kStart);
  supervisor.OnEnds({{Rank{2}, {.signal = SIGKILL}}}, kStart + Instant(1));
  EXPECT_EQ(supervisor.TakeOrder(), SIGTERM);
  EXPECT_EQ(supervisor.first_failure()->rank, Rank{2});
}

TEST(SupervisorTest, AFailureOfAllRanksFinishesAtOnce) {
  Supervisor supervisor(2, kGrace);
  supervisor.OnEnds({{Rank{0}, {.status = 1}}, {Rank{1}, {.status = 2}}}, kStart);
  EXPECT_TRUE(supervisor.finished());
  EXPECT_EQ(supervisor.first_failure()->rank, Rank{0});
}

TEST(SupervisorTest, AKilledRankIsTheCauseAmongSimultaneousEnds) {
  Supervisor supervisor(3, kGrace);
  supervisor.OnEnds({{Rank{0}, {.status = 1}}, {Rank{2}, {.signal = SIGSEGV}}}, kStart);
  EXPECT_EQ(supervisor.first_failure()->rank, Rank{2});
}

TEST(SupervisorTest, ARankThatEndsWellIsNotTheCause) {
  Supervisor supervisor(3, kGrace);
  supervisor.OnEnds({{Rank{0}, {}}, {Rank{1}, {.status = 1}}}, kStart);
  supervisor.OnTick(kStart + Supervisor::kSettling);
  EXPECT_EQ(supervisor.first_failure()->rank, Rank{1});
}

TEST(SupervisorTest, ForwardsTheUsersSignalAndIgnoresItsVictims) {
  Supervisor supervisor(2, kGrace);
  supervisor.OnSignal(SIGINT, kStart);
  EXPECT_EQ(supervisor.TakeOrder(), SIGINT);
  EXPECT_EQ(supervisor.Deadline(), kStart + kGrace);
  supervisor.OnEnds({{Rank{0}, {.signal = SIGINT}}}, kStart);
  EXPECT_FALSE(supervisor.first_failure().has_value());
  EXPECT_EQ(supervisor.user_signal(), SIGINT);
  EXPECT_EQ(supervisor.TakeOrder(), std::nullopt);
}

TEST(SupervisorTest, ASecondSignalKillsAllAtOnce) {
  Supervisor supervisor(2, kGrace);
  supervisor.OnSignal(SIGINT, kStart);
  supervisor.OnSignal(SIGTERM, kStart);
  EXPECT_EQ(supervisor.TakeOrder(), SIGINT);
  EXPECT_EQ(supervisor.TakeOrder(), SIGKILL);
  EXPECT_EQ(supervisor.user_signal(), SIGINT);
}

TEST(SupervisorTest, RanksMayContinueAfterADeath) {
  Supervisor supervisor(3, kGrace, true);
  supervisor.OnEnds({{Rank{1}, {.signal = SIGKILL}}}, kStart);
  supervisor.OnTick(kStart + Supervisor::kSettling + kGrace);
  EXPECT_EQ(supervisor.TakeOrder(), std::nullopt);
  EXPECT_EQ(supervisor.Deadline(), std::nullopt);
  supervisor.OnEnds({{Rank{0}, {}}}, kStart);
  supervisor.OnEnds({{Rank{2}, {}}}, kStart);
  EXPECT_TRUE(supervisor.finished());
  EXPECT_FALSE(supervisor.first_failure().has_value()) << "the survivors ended well";
}

TEST(SupervisorTest, ASurvivorThatFailsIsTheFailure) {
  Supervisor supervisor(3, kGrace, true);
  supervisor.OnEnds({{Rank{1}, {.signal = SIGKILL}}}, kStart);
  supervisor.OnEnds({{Rank{0}, {.status = 3}}}, kStart);
  EXPECT_EQ(supervisor.TakeOrder(), std::nullopt);
  supervisor.OnEnds({{Rank{2}, {.status = 4}}}, kStart);
  ASSERT_TRUE(supervisor.first_failure().has_value());
  EXPECT_EQ(supervisor.first_failure()->how.status, 3);
}

TEST(SupervisorTest, WithoutASurvivorTheFirstDeathIsTheFailure) {
  Supervisor supervisor(2, kGrace, true);
  supervisor.OnEnds({{Rank{1}, {.signal = SIGKILL}}}, kStart);
  supervisor.OnEnds({{Rank{0}, {.signal = SIGSEGV}}}, kStart);
  ASSERT_TRUE(supervisor.first_failure().has_value());
  EXPECT_EQ(supervisor.first_failure()->rank, Rank{1});
}

TEST(SupervisorTest, ASignalOfTheUserEndsContinuingRanks) {
  Supervisor supervisor(2, kGrace, true);
  supervisor.OnEnds({{Rank{1}, {.signal = SIGKILL}}}, kStart);
  supervisor.OnSignal(SIGINT, kStart);
  EXPECT_EQ(supervisor.TakeOrder(), SIGINT);
  supervisor.OnTick(kStart + kGrace);
  EXPECT_EQ(supervisor.TakeOrder(), SIGKILL);
}

}  // namespace
}  // namespace ringlet::cli
