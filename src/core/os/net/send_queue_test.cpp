#include "os/net/send_queue.hpp"

#include "os/net/connection_for_test.hpp"

namespace ringlet::os {
namespace {

TEST(SendQueue, IsEmptyOnceAllDataArrived) {
  const ConnectionForTest connection;
  connection.Send(100'000);
  connection.Receive(100'000);
  const auto queue = SendQueueOf(connection.sender.get());
  ASSERT_TRUE(queue.has_value());
  EXPECT_EQ(queue->bytes, 0u);
  EXPECT_EQ(queue->quiet, Instant(0));
}

TEST(SendQueue, ContainsTheUnsentDataOfASlowSocket) {
  const ConnectionForTest connection;
  connection.Send(1000);
  connection.Receive(1000);
  connection.SendSlowly(1000);
  for (int i = 0; i < 8; ++i) connection.Send(100'000);
  const auto queue = SendQueueOf(connection.sender.get());
  ASSERT_TRUE(queue.has_value());
  EXPECT_GT(queue->bytes, 100'000u);
  EXPECT_GT(queue->bytes_per_second, 0u);
  EXPECT_LE(queue->bytes_per_second, 1000u);
}

TEST(SendQueue, ExistsForTcpSocketsOnly) {
  const Fd other(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_FALSE(SendQueueOf(other.get()).has_value());
  EXPECT_FALSE(SendQueueOf(-1).has_value());
}

}  // namespace
}  // namespace ringlet::os
