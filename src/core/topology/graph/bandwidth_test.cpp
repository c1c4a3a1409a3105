#include "topology/graph/bandwidth.hpp"

#include <gtest/gtest.h>

namespace ringlet::topology {
namespace {

std::uint32_t Socket(std::string arch, std::string vendor, std::uint32_t family = 0,
                     std::uint32_t model = 0) {
  return SocketInterconnect({std::move(arch), std::move(vendor), family, model, ""}).mb_per_s;
}

TEST(BandwidthTest, TheSocketBandwidthDependsOnTheProcessor) {
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

TEST(BandwidthTest, ProcessorsUnknownToNcclHaveALimit) {
  EXPECT_EQ(KnownInterconnect({"x86_64", "HygonGenuine", 24, 1, ""}).mb_per_s, 16'000u);
  EXPECT_EQ(KnownInterconnect({"riscv64", "", 0, 0, ""}).mb_per_s, 6'000u);
  EXPECT_EQ(KnownInterconnect({"x86_64", "GenuineIntel", 6, 0xcf, ""}).mb_per_s, 40'000u);
}

TEST(BandwidthTest, ThePcieBandwidthIsLanesTimesGeneration) {
  const std::uint32_t wide[] = {12'000, 3'000, 6'000, 12'000, 24'000, 48'000, 96'000, 192'000};
  for (std::uint8_t generation = 1; generation <= 7; ++generation)
    EXPECT_EQ(PcieLink(PcieSpeed::Of(generation), 16).mb_per_s, wide[generation]);
  EXPECT_EQ(PcieLink({}, 0).mb_per_s, 12'000u);
  EXPECT_EQ(PcieLink(PcieSpeed::Of(1), 1).mb_per_s, 187u);
  EXPECT_EQ(PcieLink(PcieSpeed::Parse("16.0 GT/s"), 8).mb_per_s, 12'000u);
  EXPECT_EQ(NcclPcieLink(PcieSpeed::Parse("16.0 GT/s"), 8).mb_per_s, 6'000u);
  EXPECT_EQ(NcclPcieLink(PcieSpeed::Parse("64.0 GT/s PCIe"), 16).mb_per_s, 96'000u);
}

TEST(BandwidthTest, TheNvLinkBandwidthDependsOnTheComputeCapability) {
  const std::pair<std::uint32_t, std::uint32_t> table[] = {
      {0, 20'000},  {53, 20'000}, {60, 18'000}, {61, 18'000}, {70, 20'000},  {80, 20'000},
      {86, 12'000}, {89, 20'000}, {90, 20'600}, {99, 20'600}, {100, 40'100}, {121, 40'100}};
  for (const auto& [capability, mb_per_s] : table)
    EXPECT_EQ(NvLink(capability).mb_per_s, mb_per_s) << capability;
  EXPECT_EQ(XgmiLink("gfx90a:sramecc+").mb_per_s, 36'000u);
  EXPECT_EQ(XgmiLink("gfx942").mb_per_s, 48'000u);
  EXPECT_EQ(XgmiLink("").mb_per_s, 24'000u);
}

TEST(BandwidthTest, ParallelLinksAddUpWithoutOverflow) {
  EXPECT_EQ(Times(NvLink(90), 18).mb_per_s, 370'800u);
  EXPECT_EQ(Times(NvLink(100), ~std::uint64_t{0}).mb_per_s, ~std::uint32_t{0});
  EXPECT_EQ(Times({0}, 5).mb_per_s, 0u);
}

TEST(BandwidthTest, ConvertsNetworkSpeedsAndDefaultsToTenGigabit) {
  EXPECT_EQ(NetworkInterface(100'000).mb_per_s, 12'500u);
  EXPECT_EQ(NetworkInterface(std::nullopt).mb_per_s, 1'250u);
  EXPECT_EQ(NetworkInterface(1).mb_per_s, 1u);
}

}  // namespace
}  // namespace ringlet::topology
