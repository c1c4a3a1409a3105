#include "topology/bandwidth.hpp"

#include <gtest/gtest.h>

namespace ringlet::topology {
namespace {

std::uint32_t Socket(std::string arch, std::string vendor, std::uint32_t family = 0,
                     std::uint32_t model = 0) {
  return SocketInterconnect({std::move(arch), std::move(vendor), family, model, ""}).mb_per_s;
}

TEST(BandwidthTest, SocketInterconnectFollowsTheProcessor) {
  EXPECT_EQ(Socket("x86_64", "GenuineIntel", 6, 0x4f), 6'000u);
  EXPECT_EQ(Socket("x86_64", "GenuineIntel", 6, 0x55), 10'000u);
  EXPECT_EQ(Socket("x86_64", "GenuineIntel", 6, 0x6a), 10'000u);
  EXPECT_EQ(Socket("x86_64", "GenuineIntel", 6, 0x8f), 22'000u);
  EXPECT_EQ(Socket("x86_64", "GenuineIntel", 6, 0xcf), 40'000u);
  EXPECT_EQ(Socket("x86_64", "GenuineIntel", 15, 0xcf), 6'000u);
  EXPECT_EQ(Socket("x86_64", "AuthenticAMD", 26, 2), 16'000u);
  EXPECT_EQ(Socket("x86_64", "Shanghai", 7, 0x5b), 9'000u);
  EXPECT_EQ(Socket("x86_64", "CentaurHauls", 7, 0x3b), 6'000u);
  EXPECT_EQ(Socket("arm64", "0x41"), 6'000u);
  EXPECT_EQ(Socket("ppc64", "IBM"), 32'000u);
  EXPECT_EQ(Socket("", ""), 5'000'000u);
}

TEST(BandwidthTest, NetworkSpeedIsBitsAndUnknownIsTenGigabit) {
  EXPECT_EQ(NetworkInterface(100'000).mb_per_s, 12'500u);
  EXPECT_EQ(NetworkInterface(std::nullopt).mb_per_s, 1'250u);
  EXPECT_EQ(NetworkInterface(1).mb_per_s, 1u);
}

}  // namespace
}  // namespace ringlet::topology
