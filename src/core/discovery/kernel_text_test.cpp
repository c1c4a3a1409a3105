#include "discovery/kernel_text.hpp"

#include <gmock/gmock.h>

namespace ringlet::discovery {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using topology::CpuModel;

TEST(KernelTextTest, ParsesCpuInfoOfX86) {
  const CpuModel cpu = ParseCpuInfo(
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n"
      "model name\t: AMD EPYC: 9575F\n\nprocessor\t: 1\nmodel\t\t: 9\n");
  EXPECT_EQ(cpu, (CpuModel{"x86_64", "AuthenticAMD", 26, 2, "AMD EPYC: 9575F"}));
}

TEST(KernelTextTest, ParsesCpuInfoOfArmAndPower) {
  EXPECT_EQ(ParseCpuInfo("processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
                         "CPU part\t: 0xd4f\n"),
            (CpuModel{"arm64", "0x41", 8, 0xd4f, ""}));
  EXPECT_EQ(ParseCpuInfo("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n"),
            (CpuModel{"ppc64", "IBM", 0, 0, "POWER9, altivec supported"}));
}

TEST(KernelTextTest, MalformedCpuInfoYieldsEmptyFields) {
  EXPECT_EQ(ParseCpuInfo(""), CpuModel());
  EXPECT_EQ(ParseCpuInfo("nonsense"), CpuModel());
  EXPECT_EQ(ParseCpuInfo("vendor_id : X\ncpu family : 99999999999\n").family, 0u);
  EXPECT_EQ(ParseCpuInfo("vendor_id : " + std::string(1000, 'x')).vendor.size(), 255u);
}

TEST(KernelTextTest, CountsCpus) {
  EXPECT_EQ(CountCpus("processor : 0\nmodel : 1\n\nprocessor : 1\nprocessors : 7\n"), 2u);
  EXPECT_EQ(CountCpus(""), 0u);
}

TEST(KernelTextTest, ParsesMemTotalOfHostAndNode) {
  EXPECT_EQ(ParseMemTotal("MemTotal:        4155612 kB\nMemFree: 1 kB\n"), 4'255'346'688u);
  EXPECT_EQ(ParseMemTotal("\nNode 1 MemTotal:       8 kB\nNode 1 MemFree: 1 kB\n"), 8192u);
  EXPECT_EQ(ParseMemTotal("MemTotal:8kB"), 8192u);
  for (const char* text :
       {"", "MemTotal: 4", "MemTotal: x kB", "MemFree: 4 kB", "MemTotal: 18446744073709551615 kB"})
    EXPECT_EQ(ParseMemTotal(text), std::nullopt) << text;
}

TEST(KernelTextTest, MalformedDistancesAreDroppedAsAWhole) {
  EXPECT_THAT(ParseDistances("10 21\n"), ElementsAre(10u, 21u));
  EXPECT_THAT(ParseDistances("10 x\n"), IsEmpty());
  EXPECT_THAT(ParseDistances("\n"), IsEmpty());
}

TEST(KernelTextTest, MinusOneMeansUnknown) {
  EXPECT_EQ(ParseKnown("100000\n"), 100'000u);
  EXPECT_EQ(ParseKnown("-1\n"), std::nullopt);
  EXPECT_EQ(ParseKnown("4294967295"), std::nullopt);
}

TEST(KernelTextTest, ParsesAssignmentsOfUevent) {
  EXPECT_EQ(FindAssigned("DEVTYPE=bond\nINTERFACE=bond0\n", "INTERFACE"), "bond0");
  EXPECT_EQ(FindAssigned("DEVTYPE=bond\nINTERFACE=bond0\n", "DEVTYPE"), "bond");
  EXPECT_EQ(FindAssigned("DEVTYPEX=bond", "DEVTYPE"), "");
  EXPECT_EQ(FindAssigned("", "DEVTYPE"), "");
}

TEST(KernelTextTest, ParsesRatesOfRdmaPorts) {
  EXPECT_EQ(ParseRdmaRate("100 Gb/sec (4X EDR)"), 100'000u);
  EXPECT_EQ(ParseRdmaRate("2.5 Gb/sec (1X SDR)"), 2'500u);
  EXPECT_EQ(ParseRdmaRate("400 Gb/sec"), 400'000u);
  for (const char* text : {"", "100", "0 Gb/sec", "x Gb/sec", "2.55 Gb/sec", "2. Gb/sec",
                           "99999999 Gb/sec", " Gb/sec"})
    EXPECT_EQ(ParseRdmaRate(text), std::nullopt) << text;
}

TEST(KernelTextTest, ParsesGuids) {
  EXPECT_EQ(ParseGuid("0011:7500:0077:d5fe\n"), 0xfed5770000751100u);
  for (const char* text : {"", "0000:0000:0000:0000", "0011:7500:0077", "0011:7500:0077:d5fg",
                           "00117500:0077:d5fe:0", "0011:7500:0077:d5fe:0000"})
    EXPECT_EQ(ParseGuid(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ringlet::discovery
