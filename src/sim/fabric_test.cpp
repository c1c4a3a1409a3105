#include "sim/fabric.hpp"

#include <gtest/gtest.h>

namespace ringlet::sim {
namespace {

using std::chrono::microseconds;

HostNetwork TwoHosts(std::uint64_t mb_per_s) {
  HostNetwork fabric(mb_per_s);
  fabric.Add(1);
  return fabric;
}

TEST(HostNetwork, MessagesQueueOnEachCardInEachDirection) {
  HostNetwork fabric = TwoHosts(1000);  // 1000 bytes per microsecond
  EXPECT_EQ(fabric.Leave(0, microseconds(10), 5000), microseconds(15));
  EXPECT_EQ(fabric.Leave(0, microseconds(11), 1000), microseconds(16)) << "behind the first";
  EXPECT_EQ(fabric.Enter(0, microseconds(11), 1000), microseconds(12)) << "the other direction";
  EXPECT_EQ(fabric.Leave(1, microseconds(11), 1000), microseconds(12)) << "another card";
  EXPECT_EQ(fabric.Leave(0, microseconds(20), 1000), microseconds(21)) << "idle again";
  EXPECT_EQ(fabric.traffic(0).bytes_sent, 7000u);
  EXPECT_EQ(fabric.traffic(0).bytes_received, 1000u);
}

TEST(HostNetwork, MessagesTakeZeroTimeWithoutABandwidth) {
  HostNetwork fabric = TwoHosts(0);
  EXPECT_EQ(fabric.Leave(0, microseconds(10), 1'000'000), microseconds(10));
  EXPECT_EQ(fabric.Leave(0, microseconds(10), 1), microseconds(10));
}

TEST(HostNetwork, ACutBlocksOneDirectionUntilItsEnd) {
  HostNetwork fabric = TwoHosts(0);
  fabric.Cut(0, 1, microseconds(10), microseconds(20));
  EXPECT_EQ(fabric.DepartureTime(0, 1, microseconds(9)), microseconds(9));
  EXPECT_EQ(fabric.DepartureTime(0, 1, microseconds(10)), microseconds(20));
  EXPECT_EQ(fabric.DepartureTime(1, 0, microseconds(10)), microseconds(10));
  EXPECT_EQ(fabric.DepartureTime(0, 1, microseconds(20)), microseconds(20));
}

TEST(HostNetwork, ConsecutiveCutsAddUp) {
  HostNetwork fabric = TwoHosts(0);
  fabric.Cut(0, 1, microseconds(20), microseconds(30));
  fabric.Cut(0, 1, microseconds(10), microseconds(20));
  EXPECT_EQ(fabric.DepartureTime(0, 1, microseconds(15)), microseconds(30));
  fabric.Cut(0, 1, microseconds(25), kForEver);
  EXPECT_EQ(fabric.DepartureTime(0, 1, microseconds(15)), std::nullopt);
}

TEST(HostNetwork, ASilentHostIsCutOffInBothDirections) {
  HostNetwork fabric = TwoHosts(0);
  fabric.Isolate(1);
  EXPECT_EQ(fabric.DepartureTime(0, 1, microseconds(1)), std::nullopt);
  EXPECT_EQ(fabric.DepartureTime(1, 0, microseconds(1)), std::nullopt);
}

}  // namespace
}  // namespace ringlet::sim
