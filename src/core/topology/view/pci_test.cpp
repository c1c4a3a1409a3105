#include "topology/view/pci.hpp"

#include <gtest/gtest.h>

#include "base/value/text.hpp"

namespace ringlet::topology {
namespace {

TEST(PciTest, BusIdsArePackedLikeNccl) {
  EXPECT_EQ(BusId::Parse("0000:11:00.0").value().value, 0x11000u);
  EXPECT_EQ(BusId::Parse("FFFF:fF:1f.7").value(), BusId::Of(0xffff, 0xff, 0x1f, 7));
  EXPECT_EQ(BusId::Parse("09af:AF:09.0").value(), BusId::Of(0x9af, 0xaf, 9, 0));
  EXPECT_EQ(ToString(BusId{0x11000}), "0000:11:00.0");
  EXPECT_EQ(ToString(BusId::Parse("00010000:3b:00.1").value()), "10000:3b:00.1");
}

TEST(PciTest, AnInvalidBusIdIsQuoted) {
  for (const char* text : {"", "0000:11:00", "0000:11:00.0 ", "11:00.0", "0000:111:00.0",
                           "0000:11:0.0", "000000000:11:00.0", "fffffff:ffff:ff", "0000:1g:00.0",
                           "0000:1/:00.0", "0000:1::00.0", "0000:1`:00.0"}) {
    const Result<BusId> id = BusId::Parse(text);
    ASSERT_FALSE(id.ok()) << text;
    EXPECT_NE(id.error().message.find(Printable(text, 40)), std::string::npos);
  }
}

TEST(PciTest, ShortClassesArePrefixes) {
  EXPECT_EQ(PciClass::Parse("0x03").value().code, 0x030000u);
  EXPECT_EQ(PciClass::Parse("0x068001").value().role(), PciRole::kCpuBridge);
  EXPECT_EQ(ToString(PciClass{0x60400}), "0x060400");
  for (const char* text : {"", "0x", "0x3", "0x0302001", "bridge"})
    EXPECT_FALSE(PciClass::Parse(text).ok()) << text;
}

TEST(PciTest, AClassHasARole) {
  EXPECT_EQ(PciClass{0x060400}.role(), PciRole::kBridge);
  EXPECT_EQ(PciClass{0x080100}.role(), PciRole::kBridge);
  EXPECT_EQ(PciClass{0x068000}.role(), PciRole::kNvSwitch);
  EXPECT_EQ(PciClass{0x030200}.role(), PciRole::kGpu);
  EXPECT_EQ(PciClass{0x120000}.role(), PciRole::kGpu);
  EXPECT_EQ(PciClass{0x020700}.role(), PciRole::kNic);
  EXPECT_EQ(PciClass{0x060000}.role(), PciRole::kOther);
}

TEST(PciTest, ParsesASpeedInEverySpelling) {
  EXPECT_EQ(PcieSpeed::Parse("2.5 GT/s").generation, 1);
  EXPECT_EQ(PcieSpeed::Parse("16 GT/s").generation, 4);
  EXPECT_EQ(PcieSpeed::Parse("16.0 GT/s").generation, 4);
  EXPECT_EQ(PcieSpeed::Parse("32 GT/s PCIe/s").generation, 5);
  EXPECT_EQ(PcieSpeed::Parse("128.0 GT/s PCIe").generation, 7);
  for (const char* text : {"", "Unknown", "16", "160 GT/s", "6 GT/s", "16.5 GT/s"}) {
    EXPECT_EQ(PcieSpeed::Parse(text).generation, 0) << text;
    EXPECT_EQ(PcieSpeed::Parse(text).text, text);
  }
  for (std::uint8_t generation = 1; generation <= 7; ++generation)
    EXPECT_EQ(PcieSpeed::Parse(PcieSpeed::Of(generation).text), PcieSpeed::Of(generation));
}

TEST(PciTest, NcclParsesFewerSpellings) {
  EXPECT_EQ(NcclLaneSpeed("2.5 GT/s PCIe"), 15u);
  EXPECT_EQ(NcclLaneSpeed("16 GT/s"), 120u);
  EXPECT_EQ(NcclLaneSpeed("64.0 GT/s PCIe"), 480u);
  for (const char* text : {"16.0 GT/s", "64 GT/s", "128.0 GT/s PCIe", "", "Unknown"})
    EXPECT_EQ(NcclLaneSpeed(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ringlet::topology
