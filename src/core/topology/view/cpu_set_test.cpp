#include "topology/view/cpu_set.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ringlet::topology {
namespace {

CpuSet Set(std::string_view list) {
  return CpuSet::Parse(list).value();
}

TEST(CpuSetTest, ReadsAndWritesTheKernelsLists) {
  for (const char* list : {"", "0", "0-1", "0-15,32-47", "3,5,7"})
    EXPECT_EQ(ToString(Set(list)), list);
  EXPECT_EQ(ToString(Set(" 0-1\n")), "0-1");
  EXPECT_EQ(ToString(Set("8,0-3,2-5,6")), "0-6,8");
}

TEST(CpuSetTest, RefusesMalformedLists) {
  for (const char* list : {"a", "1-", "-1", "3-1", "1,,2", "1,", "65536", "0x1", "1 2"})
    EXPECT_FALSE(CpuSet::Parse(list).ok()) << list;
}

TEST(CpuSetTest, ReadsAndWritesTheKernelsMasks) {
  EXPECT_EQ(ToString(CpuSet::ParseMask("55555555").value()).substr(0, 7), "0,2,4,6");
  EXPECT_EQ(ToString(CpuSet::ParseMask("0003ff,f0003fff\n").value()), "0-13,28-41");
  EXPECT_EQ(CpuSet::ParseMask("00000000,00000000").value(), CpuSet());
  EXPECT_EQ(CpuSet::ParseMask("").value(), CpuSet());
  EXPECT_EQ(ToMask(Set("0-13,28-41")), "000003ff,f0003fff");
  EXPECT_EQ(ToMask(CpuSet()), "");
  for (const char* list : {"0", "31", "32", "0-15,32-47", "1000"})
    EXPECT_EQ(CpuSet::ParseMask(ToMask(Set(list))).value(), Set(list));
  for (const char* mask : {"x", ",", "1,", "123456789", "0x1", "-1"})
    EXPECT_FALSE(CpuSet::ParseMask(mask).ok()) << mask;
  EXPECT_FALSE(CpuSet::ParseMask(std::string(CpuSet::kMaskBytesMax + 1, '0')).ok());
}

TEST(CpuSetTest, CountsAndCompares) {
  EXPECT_EQ(Set("").Count(), 0u);
  EXPECT_EQ(Set("0-15,32-47").Count(), 32u);
  EXPECT_TRUE(Set("0-15,32-47").Contains(32));
  EXPECT_FALSE(Set("0-15,32-47").Contains(31));
  EXPECT_EQ(Set("0-15,32-47").CountCommon(Set("8-40")), 17u);
  EXPECT_EQ(Set("0-3").CountCommon(Set("4-7")), 0u);
  EXPECT_EQ(Set("0,2,4,6").CountCommon(Set("0-7")), 4u);
  EXPECT_EQ(CpuSet::Of(2, 5), Set("2-5"));
  EXPECT_EQ(ToString(Set("0-15,32-47").CommonWith(Set("8-40,45"))), "8-15,32-40,45");
  EXPECT_EQ(ToString(Set("0-15,32-47").JoinedWith(Set("8-31,50"))), "0-47,50");
  EXPECT_EQ(ToString(Set("").JoinedWith(Set("3"))), "3");
}

TEST(CpuSetTest, CodecRoundTripsAndRefusesDisorder) {
  for (const char* list : {"", "0", "0-15,32-47", "65535"}) {
    Writer out;
    Encode(out, Set(list));
    Reader in(out.view());
    EXPECT_EQ(DecodeCpuSet(in), Set(list));
    EXPECT_TRUE(in.AtEnd());
  }
  for (const auto& [a, b, c, d] :
       {std::array<std::uint16_t, 4>{5, 4, 7, 8}, {0, 4, 5, 8}, {4, 8, 0, 1}}) {
    Writer out;
    out.U16(2).U16(a).U16(b).U16(c).U16(d);
    Reader in(out.view());
    EXPECT_EQ(DecodeCpuSet(in), CpuSet());
    EXPECT_FALSE(in.ok());
  }
}

}  // namespace
}  // namespace ringlet::topology
