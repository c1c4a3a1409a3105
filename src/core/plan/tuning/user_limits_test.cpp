#include "plan/tuning/user_limits.hpp"

#include <gmock/gmock.h>

namespace ringlet::plan {
namespace {

using testing::HasSubstr;

TEST(UserLimitsTest, OldAndNewNamesAreRead) {
  const auto limits = ReadLimits(
      ParseSettings({{"NCCL_MIN_NRINGS", "4"}, {"NCCL_MIN_NCHANNELS", "2"}, {"NCCL_MAX_CTAS", "8"}})
          .value());
  ASSERT_TRUE(limits.ok());
  EXPECT_EQ(limits->min, 4u);
  EXPECT_EQ(limits->max, 8u);
  EXPECT_EQ(ReadLimits({})->min, 1u);
  EXPECT_EQ(ReadLimits({})->max, kChannelsMax);
}

TEST(UserLimitsTest, AMinimumAboveTheMaximumWins) {
  const auto limits =
      ReadLimits(ParseSettings({{"NCCL_MIN_NCHANNELS", "9"}, {"NCCL_MAX_NCHANNELS", "3"}}).value());
  EXPECT_EQ(limits->min, 9u);
  EXPECT_EQ(limits->max, 9u);
}

TEST(UserLimitsTest, InvalidNamesAreErrors) {
  const auto why = [](const EnvMap& env) {
    const auto user_limits = ReadUserLimits(ParseSettings(env).value());
    return user_limits.ok() ? std::string() : user_limits.error().message;
  };
  EXPECT_EQ(why({{"NCCL_ALGO", "ring"}, {"RINGLET_PLAN_POLICY", "compat"}}), "");
  EXPECT_THAT(why({{"NCCL_ALGO", "wheel"}}), HasSubstr("NCCL_ALGO has \"wheel\""));
  EXPECT_THAT(why({{"NCCL_PROTO", "wheel"}}), HasSubstr("NCCL_PROTO has \"wheel\""));
}

TEST(UserLimitsTest, TheSearchObeysTheSettings) {
  const SearchOptions options = ReadSearchOptions(ParseSettings({{"NCCL_CROSS_NIC", "0"},
                                                                 {"NCCL_NVLS_ENABLE", "0"},
                                                                 {"NCCL_MAX_NCHANNELS", "7"},
                                                                 {"NCCL_MIN_NCHANNELS", "4"},
                                                                 {"NCCL_NETDEVS_POLICY", "MAX:3"},
                                                                 {"RINGLET_PLAN_POLICY", "compat"}})
                                                      .value())
                                    .value();
  EXPECT_EQ(options.policy, Policy::kCompat);
  EXPECT_EQ(options.cross_nic, 0u);
  EXPECT_FALSE(options.nvls);
  EXPECT_EQ(options.channels_min, 2u) << "they are doubled when hosts are joined";
  EXPECT_EQ(options.channels_max, 4u);
  EXPECT_EQ(options.net_policy.max, 3u);
  EXPECT_FALSE(options.knee) << "the user chooses";
  EXPECT_EQ(ReadSearchOptions({}).value().channels_min, 1u);
  EXPECT_TRUE(ReadSearchOptions({}).value().knee);
}

TEST(UserLimitsTest, TheCompatPolicySelectsThePlainRing) {
  EXPECT_TRUE(ReadUserLimits(ParseSettings({{"RINGLET_PLAN_POLICY", "compat"}}).value())->plain);
  EXPECT_FALSE(ReadUserLimits({})->plain);
}

}  // namespace
}  // namespace ringlet::plan
