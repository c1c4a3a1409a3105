#include "transport/ofi/fabric.hpp"

#include <gtest/gtest.h>

#include "transport/ofi/fabric_for_test.hpp"

namespace ringlet::transport::ofi {
namespace {

TEST(Fabric, AllLinksShareADeadlineToLeave) {
  FakeFabric fabric("one");
  const Instant first = fabric.DrainDeadline(std::chrono::seconds(100));
  EXPECT_GT(first, std::chrono::seconds(100));
  EXPECT_LT(first, std::chrono::seconds(101));
  EXPECT_EQ(fabric.DrainDeadline(std::chrono::seconds(200)), first);
}

}  // namespace
}  // namespace ringlet::transport::ofi
