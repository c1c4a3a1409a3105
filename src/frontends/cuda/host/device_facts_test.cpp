#include "frontends/cuda/host/device_facts.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ringlet::cuda {
namespace {

TEST(DeviceFactsTest, EachDeviceHasAnAddressAndAnIdOfItsOwn) {
  std::set<std::string> seen;
  for (std::uint32_t device = 0; device < 64; ++device) {
    EXPECT_TRUE(seen.insert(PciText(device)).second);
    EXPECT_TRUE(seen.insert(UuidText(device)).second);
  }
  EXPECT_EQ(PciText(9), "5249:0a:00.0");
  EXPECT_EQ(UuidText(0), "GPU-72696e67-6c65-7420-6465-766963650000");
}

TEST(DeviceFactsTest, AddressesAreFoundInAllTheirForms) {
  EXPECT_EQ(DeviceAtPci("5249:02:00.0", 4), 1u);
  EXPECT_EQ(DeviceAtPci("00005249:02:00.0", 4), 1u);
  EXPECT_EQ(DeviceAtPci("5249:02:00", 4), 1u);
  EXPECT_EQ(DeviceAtPci("5249:09:00.0", 4), std::nullopt);
  EXPECT_EQ(DeviceAtPci("nonsense", 4), std::nullopt);
}

TEST(DeviceFactsTest, AttributesAreThoseOfTheDevice) {
  EXPECT_EQ(Attribute(10, 0), kWarpSize);
  EXPECT_EQ(Attribute(33, 4), PciBus(4));
  EXPECT_EQ(Attribute(50, 0), kPciDomain);
  EXPECT_EQ(Attribute(75, 0), kCapabilityMajor);
  EXPECT_EQ(Attribute(41, 0), 1);   // unified addresses
  EXPECT_EQ(Attribute(116, 0), 0);  // direct RDMA
  EXPECT_EQ(Attribute(0, 0), std::nullopt);
  EXPECT_EQ(Attribute(100000, 0), std::nullopt);
}

}  // namespace
}  // namespace ringlet::cuda
