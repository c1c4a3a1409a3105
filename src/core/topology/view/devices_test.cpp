#include "topology/view/devices.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

std::vector<RankDevice> Devices(std::uint32_t hosts, std::uint32_t each) {
  std::vector<RankDevice> devices;
  for (std::uint32_t i = 0; i < hosts * each; ++i)
    devices.push_back({Rank{i}, i / each, "node" + std::to_string(i / each), i % each,
                       BusId::Of(0, static_cast<std::uint8_t>(i % each), 0, 0)});
  return devices;
}

TEST(DevicesTest, EqualAddressesOnOtherHostsAreAllowed) {
  EXPECT_TRUE(CheckDevices(Devices(4, 8), false).ok());
  EXPECT_TRUE(CheckDevices({}, false).ok());
}

TEST(DevicesTest, TheErrorNamesBothRanksTheHostAndTheDevice) {
  std::vector<RankDevice> devices = Devices(2, 8);
  devices[13].bus = devices[9].bus;
  const Status status = CheckDevices(devices, false);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kInvalidArgument);
  EXPECT_THAT(status.error().message,
              HasSubstr("ranks 9 and 13 are both on GPU 0000:01:00.0 of host \"node1\""));
  EXPECT_TRUE(CheckDevices(devices, true).ok());
}

TEST(DevicesTest, RanksWithoutAKnownGpuAreComparedByNumber) {
  std::vector<RankDevice> devices = Devices(2, 2);
  for (RankDevice& device : devices) device.bus.reset();
  EXPECT_TRUE(CheckDevices(devices, false).ok());
  devices[3].number = 0;
  EXPECT_THAT(CheckDevices(devices, false).error().message,
              HasSubstr("ranks 2 and 3 are both on device 0 of host \"node1\""));
  devices[2].bus = BusId{0};  // address 0 differs from number 0
  EXPECT_TRUE(CheckDevices(devices, false).ok());
}

TEST(DevicesTest, HalvesAreSeparateDevices) {
  std::vector<RankDevice> devices = Devices(1, 2);
  devices[1].bus = devices[0].bus;
  devices[0].half = 0;
  devices[1].half = 1;
  EXPECT_TRUE(CheckDevices(devices, false).ok());
  devices[1].half = 0;
  EXPECT_THAT(CheckDevices(devices, false).error().message, HasSubstr("half 0 of GPU"));
}

TEST(DevicesTest, AHundredThousandRanksAreChecked) {
  std::vector<RankDevice> devices = Devices(12'500, 8);
  EXPECT_TRUE(CheckDevices(devices, false).ok());
  devices.back().host = 0;
  EXPECT_THAT(CheckDevices(devices, false).error().message, HasSubstr("ranks 7 and 99999"));
}

}  // namespace
}  // namespace ringlet::topology
