#include "comm/control/beacon.hpp"

#include <gtest/gtest.h>

namespace ringlet::comm {
namespace {

TEST(Beacon, HasAnAddressOfTheProcess) {
  const auto process = Process::Start(EnvMap());
  ASSERT_TRUE(process.ok());
  const auto beacon = Beacon::Start(**process);
  ASSERT_TRUE(beacon.ok()) << beacon.error().message;
  EXPECT_NE((*beacon)->address().port, 0);
  EXPECT_FALSE(BeaconProbe::Of((*beacon)->address()).IsGone());
}

TEST(Beacon, FailsWithoutAnAddressToListenAt) {
  const auto process = Process::Start(EnvMap({{"RINGLET_SOCKET_IFNAME", "=none_such"}}));
  ASSERT_TRUE(process.ok());
  EXPECT_FALSE(Beacon::Start(**process).ok());
}

}  // namespace
}  // namespace ringlet::comm
