#include "emulate/host/device_facts.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ringlet::cuda {
namespace {

TEST(DeviceFactsTest, EachDeviceOfEachHostHasItsOwnUuid) {
  std::set<std::array<unsigned char, 16>> seen;
  for (std::uint32_t host = 0; host < 300; ++host)
    for (std::uint32_t device = 0; device < 64; ++device)
      EXPECT_TRUE(seen.insert(Uuid(device, host)).second);
  CudaDeviceFacts first;
  first.uuid = Uuid(0, 0);
  EXPECT_EQ(UuidText(first), "GPU-72696e67-6c65-7420-6465-766963650000");
}

TEST(DeviceFactsTest, ParsesEveryFormOfAPciAddress) {
  const PciPlace place{0x5249, 2, 0x1f, 3};
  EXPECT_EQ(PciText(place), "5249:02:1f.3");
  EXPECT_EQ(LongPciText(place), "00005249:02:1F.3");
  EXPECT_EQ(ParsePci("5249:02:1f.3"), place);
  EXPECT_EQ(ParsePci("00005249:02:1F.3"), place);
  EXPECT_EQ(ParsePci("5249:02:1f"), (PciPlace{0x5249, 2, 0x1f, 0}));
  EXPECT_EQ(ParsePci("0:ff:ff.7"), (PciPlace{0, 0xff, 0xff, 7}));
  for (const char* wrong : {"", "nonsense", "0:0", "0:0:0:0", "0:100:0.0", "0:0:0.9", "0:0:.0",
                            "x:0:0.0", "0:0:0.", "123456789:0:0.0"})
    EXPECT_EQ(ParsePci(wrong), std::nullopt) << wrong;
}

TEST(DeviceFactsTest, LimitsFollowFromTheComputeCapability) {
  EXPECT_EQ(LimitsOf(60).shared_bytes_per_block_opt_in, 48 * 1024);
  EXPECT_EQ(LimitsOf(70).shared_bytes_per_processor, 96 * 1024);
  EXPECT_EQ(LimitsOf(80).shared_bytes_per_block_opt_in, 163 * 1024);
  EXPECT_EQ(LimitsOf(86).threads_per_processor, 1536);
  EXPECT_EQ(LimitsOf(90).shared_bytes_per_block_opt_in, kSharedBytesPerBlockOptIn);
  EXPECT_EQ(&LimitsOf(100), &LimitsOf(90));
}

TEST(DeviceFactsTest, AttributesDescribeTheDevice) {
  CudaDeviceFacts device;
  device.capability = 86;
  device.processors = 82;
  device.pci = {1, 0xaf, 2, 0};
  EXPECT_EQ(Attribute(10, device), kWarpSize);
  EXPECT_EQ(Attribute(16, device), 82);
  EXPECT_EQ(Attribute(33, device), 0xaf);
  EXPECT_EQ(Attribute(34, device), 2);
  EXPECT_EQ(Attribute(50, device), 1);
  EXPECT_EQ(Attribute(75, device), 8);
  EXPECT_EQ(Attribute(76, device), 6);
  EXPECT_EQ(Attribute(97, device), 99 * 1024);
  EXPECT_EQ(Attribute(134, device), -1);
  device.numa = 3;
  EXPECT_EQ(Attribute(134, device), 3);
  EXPECT_EQ(Attribute(41, device), 1);   // unified addresses
  EXPECT_EQ(Attribute(116, device), 0);  // direct RDMA
  EXPECT_EQ(Attribute(0, device), std::nullopt);
  EXPECT_EQ(Attribute(100000, device), std::nullopt);
}

}  // namespace
}  // namespace ringlet::cuda
