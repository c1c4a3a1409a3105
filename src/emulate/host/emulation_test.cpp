#include "emulate/host/emulation.hpp"

#include <gmock/gmock.h>

#include "topo/edit/synthetic.hpp"

namespace ringlet::cuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kGibibyte = std::uint64_t{1} << 30;

TEST(EmulationTest, DevicesShareTheMemoryOfTheComputer) {
  const auto one = ReadEmulation({}, 16 * kGibibyte);
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->machine.devices(), 1u);
  EXPECT_EQ(one->memory_bytes, 16 * kGibibyte);
  const auto eight = ReadEmulation({{kDevicesVariable, "8"}}, 16 * kGibibyte);
  ASSERT_TRUE(eight.ok());
  EXPECT_EQ(eight->memory_bytes, 2 * kGibibyte);
  EXPECT_EQ(ReadEmulation({{kDevicesVariable, "8"}}, 0)->memory_bytes, kMemoryMin);
}

TEST(EmulationTest, ReadsItsSettingsFromTheEnvironment) {
  const auto emulation = ReadEmulation({{kDevicesVariable, "3"},
                                        {kMemoryVariable, "2097152"},
                                        {kKernelsVariable, "/a.so::/b.so"},
                                        {"RINGLET_DEBUG", "info"}},
                                       kGibibyte);
  ASSERT_TRUE(emulation.ok());
  EXPECT_EQ(emulation->machine.devices(), 3u);
  EXPECT_FALSE(emulation->memory_of_model);
  EXPECT_EQ(emulation->memory_bytes, 2097152u);
  EXPECT_THAT(emulation->kernels, ElementsAre("/a.so", "/b.so"));
  EXPECT_TRUE(emulation->verbose);
  EXPECT_FALSE(ReadEmulation({{"RINGLET_DEBUG", "VERSION"}}, kGibibyte)->verbose);
}

TEST(EmulationTest, ErrorsNameTheWrongVariable) {
  for (const char* wrong : {"0", "65", "x", "-1", ""}) {
    const auto emulation = ReadEmulation({{kDevicesVariable, wrong}}, kGibibyte);
    ASSERT_FALSE(emulation.ok()) << wrong;
    EXPECT_THAT(emulation.error().message, HasSubstr(kDevicesVariable));
  }
  EXPECT_FALSE(ReadEmulation({{kMemoryVariable, "1000"}}, kGibibyte).ok());
}

TEST(EmulationTest, AMachineFileDefinesTheDevices) {
  const auto view = topology::ParseSynthetic("8 gpu h100-sxm5 switch");
  const EnvMap named{{kMachineVariable, "/m/mine.xml"}, {kHostVariable, "3"}};
  const auto all = ReadEmulation(named, kGibibyte, &*view);
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(all->machine.devices(), 8u);
  EXPECT_EQ(all->machine[0].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(all->machine[1].uuid, Uuid(1, 3));
  EXPECT_TRUE(all->memory_of_model);
  EXPECT_EQ(all->memory_bytes, kGibibyte / 8);
  EXPECT_EQ(ReadEmulation(named, 8000 * kGibibyte, &*view)->memory_bytes, 80 * kGibibyte);
  EnvMap fewer = named;
  fewer[kDevicesVariable] = "2";
  EXPECT_EQ(ReadEmulation(fewer, kGibibyte, &*view)->machine.devices(), 2u);
  fewer[kDevicesVariable] = "9";
  EXPECT_THAT(ReadEmulation(fewer, kGibibyte, &*view).error().message, HasSubstr("1 to 8"));
  const auto none = topology::ParseSynthetic("nic");
  EXPECT_THAT(ReadEmulation(named, kGibibyte, &*none).error().message, HasSubstr("/m/mine.xml"));
}

TEST(VisibleDevicesTest, AllDevicesAreVisibleWithoutTheVariable) {
  EXPECT_THAT(VisibleDevices({}, MachineFacts::Plain(3, 0)), ElementsAre(0, 1, 2));
}

TEST(VisibleDevicesTest, TheListEndsAtItsFirstInvalidEntry) {
  const MachineFacts machine = MachineFacts::Plain(4, 0);
  const auto visible = [&](const std::string& list) {
    return VisibleDevices({{"CUDA_VISIBLE_DEVICES", list}}, machine);
  };
  EXPECT_THAT(visible("2,0"), ElementsAre(2, 0));
  EXPECT_THAT(visible("1, 3 ,9,0"), ElementsAre(1, 3));
  EXPECT_THAT(visible("1,1"), ElementsAre(1));
  EXPECT_THAT(visible(""), IsEmpty());
  EXPECT_THAT(visible("-1"), IsEmpty());
  EXPECT_THAT(visible(UuidText(machine[2]) + ",0"), ElementsAre(2, 0));
}

}  // namespace
}  // namespace ringlet::cuda
