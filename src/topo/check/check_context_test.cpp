#include "topo/check/check_context.hpp"

#include <gmock/gmock.h>

#include "topo/check/check_for_test.hpp"

namespace ringlet::topology {
namespace {

TEST(CheckContextTest, FindsDevicesAndNicsBesideGpus) {
  const HostView view = ParseSynthetic("(switch: gpu h100-sxm5, nic), nic").value();
  const Positions none;
  const CheckContext context(view, none);
  ASSERT_EQ(context.gpus().size(), 1u);
  ASSERT_EQ(context.nics().size(), 2u);
  EXPECT_TRUE(context.nics()[0].beside_gpu);
  EXPECT_FALSE(context.nics()[1].beside_gpu);
  EXPECT_EQ(context.NameOf(context.gpus()[0]), "GPU0 (h100-sxm5)");
  EXPECT_EQ(context.NameOf(context.nics()[0]), "NIC nic0");
  EXPECT_EQ(context.NameOfFunction(0), "PCIe switch");
}

TEST(CheckContextTest, ASkeletonHasDevicesByTheirClass) {
  HostView view = ParseSynthetic("2 gpu, nic").value();
  view.gpus.clear();
  view.nics.clear();
  view.nets.clear();
  const Positions none;
  const CheckContext context(view, none);
  EXPECT_EQ(context.gpus().size(), 2u);
  EXPECT_EQ(context.nics().size(), 1u);
}

TEST(CheckContextTest, TheMajorityIsTheGreatestOfTheMostFrequent) {
  EXPECT_EQ(MajorityOf({1, 2, 2, 1}).value, 2u);
  EXPECT_EQ(MajorityOf({7, 2, 2}).value, 2u);
  EXPECT_TRUE(IsNorm({2, 2}, 3));
  EXPECT_FALSE(IsNorm({2, 2}, 4));
  EXPECT_TRUE(IsNorm({2, 1}, 2));
}

TEST(CheckContextTest, TextsHaveUnits) {
  EXPECT_EQ(GigabitText(400'000), "400 Gbit/s");
  EXPECT_EQ(GigabitText(56'500), "56.5 Gbit/s");
  EXPECT_EQ(RateText({187}), "0.2 GB/s");
  EXPECT_EQ(RateText({48'000}), "48 GB/s");
}

}  // namespace
}  // namespace ringlet::topology
