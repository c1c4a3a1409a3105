#include "c_api/predict.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace {

constexpr const char* kTwoGpus = R"(<system version="1">
  <cpu host_hash="0x1" numaid="0" affinity="ffff" arch="x86_64" vendor="GenuineIntel"
       familyid="6" modelid="143">
    <pci busid="0000:01:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="0" sm="90" rank="0" gdr="0"/></pci>
    <pci busid="0000:02:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="90" rank="1" gdr="0"/></pci>
    <nic><net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x1" maxconn="1" gdr="0"/></nic>
  </cpu></system>)";

std::string TextOf(RingletPredictionRequest request, std::int32_t& failed) {
  const std::unique_ptr<char, void (*)(void*)> text(ringlet_predict(&request, &failed), &std::free);
  return text.get();
}

TEST(Predict, ReturnsJsonForAMachine) {
  std::int32_t failed = -1;
  const std::string text = TextOf({kTwoGpus, "two", 3, "all_gather", 1024, 0}, failed);
  EXPECT_EQ(failed, 0) << text;
  EXPECT_NE(text.find(R"("ranks": 6)"), std::string::npos) << text;
  EXPECT_EQ(text.find("flows"), std::string::npos) << text;
}

TEST(Predict, ReturnsTheMessageOfAnError) {
  std::int32_t failed = -1;
  const std::string text = TextOf({"<system", "broken.xml", 1, "all_reduce", 1024, 0}, failed);
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(text.find("ringlet: "), 0U) << text;
  EXPECT_NE(text.find("broken.xml:1"), std::string::npos) << text;
}

}  // namespace
