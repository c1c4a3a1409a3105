#include "os/driver/driver_counters.hpp"

#include <gtest/gtest.h>

namespace ringlet::os {
namespace {

TEST(Counters, AddUp) {
  SocketDriver::Counters sum{.bytes_sent = 1,
                             .bytes_received = 2,
                             .lines_dialled = 3,
                             .lines_accepted = 4,
                             .system_calls = 5};
  sum += sum;
  EXPECT_EQ(sum.bytes_sent, 2u);
  EXPECT_EQ(sum.bytes_received, 4u);
  EXPECT_EQ(sum.lines_dialled, 6u);
  EXPECT_EQ(sum.lines_accepted, 8u);
  EXPECT_EQ(sum.system_calls, 10u);
}

}  // namespace
}  // namespace ringlet::os
