#include "os/driver/poller.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>

namespace ringlet::os {
namespace {

class Polled : public testing::Test {
 protected:
  Fd Ready() { return Fd(::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC)); }
  int Look() { return poller.Await(events, Instant(0), Instant(0)); }

  DriverTally tally;
  Poller poller{Fd(::epoll_create1(EPOLL_CLOEXEC)), tally};
  std::array<epoll_event, 4> events{};
};

TEST_F(Polled, EachDescriptorHasItsOwnToken) {
  const Token first = poller.NewToken(), second = poller.NewToken();
  EXPECT_NE(first, kWakeToken);
  EXPECT_NE(first, second);
}

TEST_F(Polled, AReadyDescriptorIsReportedUntilItIsForgotten) {
  const Fd fd = Ready();
  const Token token = poller.NewToken();
  EXPECT_EQ(Look(), 0);
  poller.Watch(fd.get(), token, EPOLLIN);
  ASSERT_EQ(Look(), 1);
  EXPECT_EQ(events[0].data.u64, token);
  EXPECT_EQ(events[0].events, std::uint32_t{EPOLLIN});
  poller.UpdateEvents(fd.get(), token, 0);
  EXPECT_EQ(Look(), 0);
  poller.UpdateEvents(fd.get(), token, EPOLLIN | EPOLLOUT);
  EXPECT_EQ(Look(), 1);
  poller.Forget(fd.get());
  EXPECT_EQ(Look(), 0);
  EXPECT_EQ(tally.counters.system_calls, 9u);
}

TEST_F(Polled, ASpinningWaitEndsWithTheFirstReadyDescriptor) {
  const Fd fd = Ready();
  poller.Watch(fd.get(), poller.NewToken(), EPOLLIN);
  EXPECT_EQ(poller.Await(events, std::chrono::hours(1), std::chrono::hours(1)), 1);
  EXPECT_EQ(tally.counters.system_calls, 2u);
}

}  // namespace
}  // namespace ringlet::os
