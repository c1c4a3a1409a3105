#include "frontends/cli/foreman.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace ringlet::cli {
namespace {

constexpr Instant kStart = std::chrono::hours(1);
constexpr Instant kGrace = std::chrono::seconds(5);

TEST(ForemanTest, RanksThatEndWellNeedNothing) {
  Foreman foreman(2, kGrace);
  foreman.OnEnds({{Rank{1}, {}}}, kStart);
  EXPECT_FALSE(foreman.finished());
  foreman.OnEnds({{Rank{0}, {}}}, kStart);
  EXPECT_TRUE(foreman.finished());
  EXPECT_EQ(foreman.TakeOrder(), std::nullopt);
  EXPECT_FALSE(foreman.first_failure().has_value());
}

TEST(ForemanTest, AfterAFailureTheOthersAreToldAndThenKilled) {
  Foreman foreman(3, kGrace);
  foreman.OnEnds({{Rank{2}, {.signal = SIGSEGV}}}, kStart);
  EXPECT_EQ(foreman.TakeOrder(), SIGTERM);
  EXPECT_EQ(foreman.Deadline(), kStart + kGrace);
  foreman.OnTick(kStart + kGrace - Instant(1));
  EXPECT_EQ(foreman.TakeOrder(), std::nullopt);
  foreman.OnTick(kStart + kGrace);
  EXPECT_EQ(foreman.TakeOrder(), SIGKILL);
  EXPECT_EQ(foreman.Deadline(), std::nullopt);
  foreman.OnEnds({{Rank{0}, {.signal = SIGKILL}}, {Rank{1}, {.signal = SIGKILL}}}, kStart + kGrace);
  EXPECT_TRUE(foreman.finished());
  ASSERT_TRUE(foreman.first_failure().has_value());
  EXPECT_EQ(foreman.first_failure()->rank, Rank{2});
  EXPECT_EQ(foreman.first_failure()->how.signal, SIGSEGV);
}

TEST(ForemanTest, ARankThatGivesUpIsBlamedOnlyWhenNoCauseShowsUp) {
  Foreman foreman(3, kGrace);
  foreman.OnEnds({{Rank{1}, {.status = 7}}}, kStart);
  EXPECT_EQ(foreman.TakeOrder(), std::nullopt);
  EXPECT_EQ(foreman.Deadline(), kStart + Foreman::kSettling);
  foreman.OnEnds({{Rank{0}, {.status = 8}}}, kStart + Instant(1));
  foreman.OnTick(kStart + Foreman::kSettling);
  EXPECT_EQ(foreman.TakeOrder(), SIGTERM);
  EXPECT_EQ(foreman.Deadline(), kStart + Foreman::kSettling + kGrace);
  EXPECT_EQ(foreman.first_failure()->rank, Rank{1});
  EXPECT_EQ(foreman.first_failure()->how.status, 7);
}

TEST(ForemanTest, AKilledRankIsTheCauseAlthoughItsPeersEndedFirst) {
  Foreman foreman(4, kGrace);
  foreman.OnEnds({{Rank{0}, {.status = 1}}, {Rank{3}, {.signal = SIGABRT}}}, kStart);
  foreman.OnEnds({{Rank{2}, {.signal = SIGKILL}}}, kStart + Instant(1));
  EXPECT_EQ(foreman.TakeOrder(), SIGTERM);
  EXPECT_EQ(foreman.first_failure()->rank, Rank{2});
}

TEST(ForemanTest, WhenAllHaveEndedNobodyWaits) {
  Foreman foreman(2, kGrace);
  foreman.OnEnds({{Rank{0}, {.status = 1}}, {Rank{1}, {.status = 2}}}, kStart);
  EXPECT_TRUE(foreman.finished());
  EXPECT_EQ(foreman.first_failure()->rank, Rank{0});
}

TEST(ForemanTest, OfThoseThatEndTogetherTheKilledOneIsTheCause) {
  Foreman foreman(3, kGrace);
  foreman.OnEnds({{Rank{0}, {.status = 1}}, {Rank{2}, {.signal = SIGSEGV}}}, kStart);
  EXPECT_EQ(foreman.first_failure()->rank, Rank{2});
}

TEST(ForemanTest, ARankThatEndsWellIsNotTheCause) {
  Foreman foreman(3, kGrace);
  foreman.OnEnds({{Rank{0}, {}}, {Rank{1}, {.status = 1}}}, kStart);
  foreman.OnTick(kStart + Foreman::kSettling);
  EXPECT_EQ(foreman.first_failure()->rank, Rank{1});
}

TEST(ForemanTest, TheUsersSignalIsPassedOnAndItsVictimsAreNoFailures) {
  Foreman foreman(2, kGrace);
  foreman.OnSignal(SIGINT, kStart);
  EXPECT_EQ(foreman.TakeOrder(), SIGINT);
  EXPECT_EQ(foreman.Deadline(), kStart + kGrace);
  foreman.OnEnds({{Rank{0}, {.signal = SIGINT}}}, kStart);
  EXPECT_FALSE(foreman.first_failure().has_value());
  EXPECT_EQ(foreman.user_signal(), SIGINT);
  EXPECT_EQ(foreman.TakeOrder(), std::nullopt);
}

TEST(ForemanTest, TheSecondSignalEndsAllAtOnce) {
  Foreman foreman(2, kGrace);
  foreman.OnSignal(SIGINT, kStart);
  foreman.OnSignal(SIGTERM, kStart);
  EXPECT_EQ(foreman.TakeOrder(), SIGINT);
  EXPECT_EQ(foreman.TakeOrder(), SIGKILL);
  EXPECT_EQ(foreman.user_signal(), SIGINT);
}

}  // namespace
}  // namespace ringlet::cli
