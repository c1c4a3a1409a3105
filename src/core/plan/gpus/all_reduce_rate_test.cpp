#include "plan/gpus/all_reduce_rate.hpp"

#include <gtest/gtest.h>

#include "topo/edit/synthetic.hpp"

namespace ringlet::plan {
namespace {

topology::Bandwidth RateOf(std::string_view words, std::uint32_t hosts) {
  GpuPlanOptions options;
  options.choice = ParseTuningChoice("", "").value();
  return AllReduceRate(topology::ParseSynthetic(words).value(), hosts, options).value();
}

TEST(AllReduceRateTest, ASlowNicLimitsOnlyRatesBeyondTheHost) {
  constexpr std::string_view kFast = "2x(numa: 4x(switch: gpu h100-sxm5 switch, nic 400g))";
  constexpr std::string_view kSlow = "2x(numa: 4x(switch: gpu h100-sxm5 switch, nic 100g))";
  EXPECT_EQ(RateOf(kFast, 1), RateOf(kSlow, 1));
  EXPECT_GT(RateOf(kFast, 2).mb_per_s, 2 * RateOf(kSlow, 2).mb_per_s);
}

TEST(AllReduceRateTest, LinksLimitTheRateWithinTheHost) {
  EXPECT_GT(RateOf("4 gpu a100-sxm4 mesh", 1), RateOf("4 gpu a100-pcie", 1));
}

TEST(AllReduceRateTest, ASingleGpuHasRateZeroAndNoGpuIsAnError) {
  EXPECT_EQ(RateOf("gpu", 1).mb_per_s, 0u);
  EXPECT_FALSE(AllReduceRate(topology::ParseSynthetic("nic").value(), 1, {}).ok());
}

}  // namespace
}  // namespace ringlet::plan
