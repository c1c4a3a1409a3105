#include "transport/tcp/send_queues.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include "os/net/connection_for_test.hpp"

namespace ringlet::transport {
namespace {

using namespace std::chrono_literals;

TEST(IsSlow, DependsOnTheTimeToDrainTheQueue) {
  EXPECT_FALSE(IsSlow({.bytes = 0, .bytes_per_second = 1, .quiet = 9s})) << "nothing waits";
  EXPECT_FALSE(IsSlow({.bytes = 4 << 20, .bytes_per_second = 100 << 20}));
  EXPECT_TRUE(IsSlow({.bytes = 4 << 20, .bytes_per_second = 10 << 20}));
  EXPECT_FALSE(IsSlow({.bytes = 4 << 20, .bytes_per_second = 0})) << "the kernel does not know yet";
  EXPECT_TRUE(IsSlow({.bytes = 1, .bytes_per_second = 100 << 20, .quiet = 1s}));
}

TEST(SendQueues, ReportThePeerOfASlowSocket) {
  os::ConnectionForTest quick, slow;
  SendQueues queues;
  queues.Add(Rank{1}, quick.sender.get());
  queues.Add(Rank{2}, slow.sender.get());
  for (const os::ConnectionForTest* each : {&quick, &slow}) {
    each->Send(100'000);
    each->Receive(100'000);
  }
  EXPECT_THAT(queues.Slow(), testing::IsEmpty());
  constexpr unsigned kBytesPerSecond = 1000;
  slow.SendSlowly(kBytesPerSecond);
  for (int i = 0; i < 8; ++i) slow.Send(100'000);
  const std::vector<SlowSend> sends = queues.Slow();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(sends[0].peer, 2u);
  EXPECT_GT(sends[0].bytes, 0u);
  EXPECT_LE(sends[0].bytes_per_second, kBytesPerSecond);
  queues.Remove(slow.sender.get());
  EXPECT_THAT(queues.Slow(), testing::IsEmpty());
}

TEST(SendQueues, IgnoreOtherSockets) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  const os::Fd one(pair[0]), other(pair[1]);
  SendQueues queues;
  queues.Add(Rank{1}, one.get());
  EXPECT_THAT(queues.Slow(), testing::IsEmpty());
}

}  // namespace
}  // namespace ringlet::transport
