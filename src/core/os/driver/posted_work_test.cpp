#include "os/driver/posted_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace ringlet::os {
namespace {

using testing::ElementsAre;

class Posted : public testing::Test {
 protected:
  bool PutAnnounced(int number) {
    return posted.Put([this, number] { ran.push_back(number); }, [] { return false; });
  }
  bool PutOwn(int number) {
    return posted.Put([this, number] { ran.push_back(number); }, [] { return true; });
  }
  void Run(const std::vector<Work>& all) {
    for (const Work& one : all) one();
  }
  // Reads and resets the wake-ups that the eventfd has counted.
  std::uint64_t WakeUps() {
    std::uint64_t count = 0;
    return ::read(posted.descriptor(), &count, sizeof count) == sizeof count ? count : 0;
  }

  DriverTally tally;
  PostedWork posted{Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)), tally};
  std::vector<int> ran;
};

TEST_F(Posted, ASingleWakeUpAnnouncesAllWork) {
  EXPECT_TRUE(PutAnnounced(1));
  EXPECT_TRUE(PutAnnounced(2));
  EXPECT_TRUE(posted.TakeOwn().empty()) << "a wake-up is on its way";
  EXPECT_EQ(WakeUps(), 1u);
  Run(posted.TakeAnnounced());
  EXPECT_THAT(ran, ElementsAre(1, 2));
  EXPECT_TRUE(posted.TakeAnnounced().empty());
  EXPECT_TRUE(PutAnnounced(3));
  EXPECT_EQ(WakeUps(), 1u);
}

TEST_F(Posted, TheDriversThreadIsNotWokenForItsOwnWork) {
  EXPECT_FALSE(PutOwn(1));
  EXPECT_FALSE(PutOwn(2));
  EXPECT_EQ(WakeUps(), 0u);
  Run(posted.TakeOwn());
  EXPECT_THAT(ran, ElementsAre(1, 2));
  EXPECT_TRUE(posted.TakeOwn().empty());
}

TEST_F(Posted, TakingAnnouncedWorkAlsoTakesOwnWorkAndTheWakeUp) {
  PutOwn(1);
  PutAnnounced(2);
  PutOwn(3);
  Run(posted.TakeAnnounced());
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
  EXPECT_EQ(WakeUps(), 0u);
}

TEST_F(Posted, TimedWorkIsDueInTheOrderOfItsTimes) {
  EXPECT_EQ(posted.NextDue(), std::nullopt);
  posted.PutTimed(Instant(20), [this] { ran.push_back(20); });
  posted.PutTimed(Instant(10), [this] { ran.push_back(10); });
  posted.PutTimed(Instant(30), [this] { ran.push_back(30); });
  EXPECT_EQ(posted.NextDue(), Instant(10));
  EXPECT_FALSE(posted.TakeDue(Instant(9)).has_value());
  while (const auto work = posted.TakeDue(Instant(20))) (*work)();
  EXPECT_THAT(ran, ElementsAre(10, 20));
  EXPECT_EQ(posted.NextDue(), Instant(30));
}

}  // namespace
}  // namespace ringlet::os
