#include "transport/link/doorbell.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

#include "os/fs/fd.hpp"

namespace ringlet::transport {
namespace {

using std::chrono::nanoseconds;
constexpr auto kLong = std::chrono::seconds(30);

struct BellRig {
  DoorbellWord word;
  os::Fd event{::eventfd(0, EFD_NONBLOCK)};
  Doorbell bell{word};
  DoorbellButton button{word, event.get()};

  bool EventWritten() {
    std::uint64_t count = 0;
    return ::read(event.get(), &count, sizeof count) == sizeof count;
  }
};

TEST(Doorbell, RingingAnAwakeOwnerChangesNoState) {
  BellRig rig;
  rig.button.Ring();
  EXPECT_EQ(rig.word.value.load(), 0u);
  EXPECT_FALSE(rig.EventWritten());
}

TEST(Doorbell, ARingAfterArmIsSeen) {
  BellRig rig;
  const auto ticket = rig.bell.Arm();
  EXPECT_FALSE(rig.bell.Rung(ticket));
  rig.button.Ring();
  EXPECT_TRUE(rig.bell.Rung(ticket));
  EXPECT_FALSE(rig.bell.PublishSleep(ticket, Doorbell::Sleep::kFutex));
}

TEST(Doorbell, AnEarlierTicketCountsAsRung) {
  BellRig rig;
  const auto old = rig.bell.Arm();
  const auto ticket = rig.bell.Arm();
  EXPECT_TRUE(rig.bell.Rung(old));
  EXPECT_FALSE(rig.bell.Rung(ticket));
}

TEST(Doorbell, OnlyAPollingOwnerCostsAWrite) {
  BellRig rig;
  auto ticket = rig.bell.Arm();
  ASSERT_TRUE(rig.bell.PublishSleep(ticket, Doorbell::Sleep::kFutex));
  rig.button.Ring();
  EXPECT_FALSE(rig.EventWritten());
  ticket = rig.bell.Arm();
  ASSERT_TRUE(rig.bell.PublishSleep(ticket, Doorbell::Sleep::kPoll));
  rig.button.Ring();
  EXPECT_TRUE(rig.EventWritten());
  rig.button.Ring();
  EXPECT_FALSE(rig.EventWritten()) << "the owner is awake";
  rig.bell.ArmInPoll();
  rig.button.Ring();
  EXPECT_TRUE(rig.EventWritten());
}

TEST(Doorbell, AnInvalidWordEndsTheSleep) {
  BellRig rig;
  const auto ticket = rig.bell.Arm();
  ASSERT_TRUE(rig.bell.PublishSleep(ticket, Doorbell::Sleep::kFutex));
  rig.word.value.store(0xfffffffe);
  rig.bell.SleepInFutex(ticket, kLong);
  EXPECT_TRUE(rig.bell.Rung(ticket));
}

// Two threads pass a number back and forth. A lost wake-up leaves one asleep until the time limit.
TEST(Doorbell, NoWakeUpIsLost) {
  BellRig rigs[2];
  std::atomic<std::uint32_t> number{0};
  constexpr std::uint32_t kRounds = 20'000;
  const auto play = [&](std::uint32_t side) {
    for (std::uint32_t next = side; next < kRounds; next += 2) {
      for (;;) {
        const auto ticket = rigs[side].bell.Arm();
        if (number.load() == next) break;
        if (!rigs[side].bell.PublishSleep(ticket, Doorbell::Sleep::kFutex)) continue;
        rigs[side].bell.SleepInFutex(ticket, kLong);
        if (!rigs[side].bell.Rung(ticket) && number.load() == next) {
          ADD_FAILURE() << "slept through round " << next;
          return;
        }
      }
      number.store(next + 1);
      rigs[1 - side].button.Ring();
    }
  };
  std::thread other(play, 1u);
  play(0u);
  other.join();
  EXPECT_EQ(number.load(), kRounds);
}

}  // namespace
}  // namespace ringlet::transport
