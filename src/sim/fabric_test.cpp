#include "sim/fabric.hpp"

#include <gtest/gtest.h>

namespace ringlet::sim {
namespace {

using std::chrono::microseconds;

Fabric TwoHosts(std::uint64_t mb_per_s) {
  Fabric fabric(mb_per_s);
  fabric.Add(1);
  return fabric;
}

TEST(Fabric, MessagesQueueOnEachCardInEachDirection) {
  Fabric fabric = TwoHosts(1000);  // 1000 bytes per microsecond
  EXPECT_EQ(fabric.Leave(0, microseconds(10), 5000), microseconds(15));
  EXPECT_EQ(fabric.Leave(0, microseconds(11), 1000), microseconds(16)) << "behind the first";
  EXPECT_EQ(fabric.Enter(0, microseconds(11), 1000), microseconds(12)) << "the other direction";
  EXPECT_EQ(fabric.Leave(1, microseconds(11), 1000), microseconds(12)) << "another card";
  EXPECT_EQ(fabric.Leave(0, microseconds(20), 1000), microseconds(21)) << "idle again";
  EXPECT_EQ(fabric.traffic(0).bytes_sent, 7000u);
  EXPECT_EQ(fabric.traffic(0).bytes_received, 1000u);
}

TEST(Fabric, MessagesTakeZeroTimeWithoutABandwidth) {
  Fabric fabric = TwoHosts(0);
  EXPECT_EQ(fabric.Leave(0, microseconds(10), 1'000'000), microseconds(10));
  EXPECT_EQ(fabric.Leave(0, microseconds(10), 1), microseconds(10));
}

TEST(Fabric, ACutBlocksOneDirectionUntilItsEnd) {
  Fabric fabric = TwoHosts(0);
  fabric.Cut(0, 1, microseconds(10), microseconds(20));
  EXPECT_EQ(fabric.SetsOut(0, 1, microseconds(9)), microseconds(9));
  EXPECT_EQ(fabric.SetsOut(0, 1, microseconds(10)), microseconds(20));
  EXPECT_EQ(fabric.SetsOut(1, 0, microseconds(10)), microseconds(10));
  EXPECT_EQ(fabric.SetsOut(0, 1, microseconds(20)), microseconds(20));
}

TEST(Fabric, ConsecutiveCutsAddUp) {
  Fabric fabric = TwoHosts(0);
  fabric.Cut(0, 1, microseconds(20), microseconds(30));
  fabric.Cut(0, 1, microseconds(10), microseconds(20));
  EXPECT_EQ(fabric.SetsOut(0, 1, microseconds(15)), microseconds(30));
  fabric.Cut(0, 1, microseconds(25), kForEver);
  EXPECT_EQ(fabric.SetsOut(0, 1, microseconds(15)), std::nullopt);
}

TEST(Fabric, ASilentHostIsCutOffInBothDirections) {
  Fabric fabric = TwoHosts(0);
  fabric.Silence(1);
  EXPECT_EQ(fabric.SetsOut(0, 1, microseconds(1)), std::nullopt);
  EXPECT_EQ(fabric.SetsOut(1, 0, microseconds(1)), std::nullopt);
}

}  // namespace
}  // namespace ringlet::sim
