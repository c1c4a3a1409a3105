#include "os/process/signal_counter.hpp"

#include <gmock/gmock.h>

#include <csignal>

namespace ringlet::os {
namespace {

TEST(SignalCounter, ParsesNamesWithAndWithoutSig) {
  EXPECT_EQ(SignalNamed("SIGUSR2"), SIGUSR2);
  EXPECT_EQ(SignalNamed("usr1"), SIGUSR1);
  EXPECT_EQ(SignalNamed("Quit"), SIGQUIT);
  for (const char* const none : {"", "SIG", "KILL", "SIGKILL", "12", "SIGUSR", "USR22"})
    EXPECT_EQ(SignalNamed(none), std::nullopt) << none;
}

TEST(SignalCounter, CountsASignalUntilTheLastCounterEnds) {
  {
    auto first = SignalCounter::Open(SIGUSR2);
    ASSERT_TRUE(first.ok()) << first.error().message;
    const std::uint64_t before = first->count();
    const auto second = SignalCounter::Open(SIGUSR2);
    ASSERT_TRUE(second.ok());
    std::raise(SIGUSR2);
    { const SignalCounter moved = *std::move(first); }
    std::raise(SIGUSR2);
    EXPECT_EQ(second->count(), before + 2);
  }
  EXPECT_EQ(std::signal(SIGUSR2, SIG_DFL), SIG_DFL);
}

TEST(SignalCounter, KeepsTheHandlerOfTheProgram) {
  const auto own = [](int) {};
  std::signal(SIGUSR2, own);
  const auto refused = SignalCounter::Open(SIGUSR2);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, testing::HasSubstr("SIGUSR2"));
  EXPECT_EQ(std::signal(SIGUSR2, SIG_DFL), static_cast<void (*)(int)>(own));
  {
    const auto counted = SignalCounter::Open(SIGUSR2);
    ASSERT_TRUE(counted.ok());
    std::signal(SIGUSR2, own);  // later
  }
  EXPECT_EQ(std::signal(SIGUSR2, SIG_DFL), static_cast<void (*)(int)>(own));
}

}  // namespace
}  // namespace ringlet::os
