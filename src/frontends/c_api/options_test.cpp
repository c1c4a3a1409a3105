#include "frontends/c_api/options.hpp"

#include <gmock/gmock.h>

#include <cstddef>

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;

std::string WhyNot(const ncclConfig_t& config) {
  const Status status = CheckConfig(&config);
  return status.ok() ? "" : status.error().message;
}

TEST(Options, AConfigIsCheckedFieldByField) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(WhyNot(config), "");
  EXPECT_TRUE(CheckConfig(nullptr).ok());
  config.blocking = 7;
  EXPECT_EQ(WhyNot(config), "config->blocking is 7, not between 0 and 1");
  config = NCCL_CONFIG_INITIALIZER;
  config.minCTAs = 0;
  EXPECT_EQ(WhyNot(config), "config->minCTAs is 0, below 1");
  config = NCCL_CONFIG_INITIALIZER;
  config.splitShare = -1;
  EXPECT_THAT(WhyNot(config), HasSubstr("splitShare is -1"));
  config = NCCL_CONFIG_INITIALIZER;
  config.magic = 1;
  EXPECT_THAT(WhyNot(config), HasSubstr("config->magic is 0x1"));
  config = NCCL_CONFIG_INITIALIZER;
  config.size = 8;
  EXPECT_THAT(WhyNot(config), HasSubstr("config->size is 8"));
}

TEST(Options, FieldsThatAnOlderConfigLacksAreNotLookedAt) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.size = offsetof(ncclConfig_t, cgaClusterSize);
  config.cgaClusterSize = 99;
  EXPECT_EQ(WhyNot(config), "");
}

TEST(Options, BlockingIsTheParentsWithoutAConfigOnly) {
  EXPECT_FALSE(Blocks(nullptr, false));
  EXPECT_TRUE(Blocks(nullptr, true));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  EXPECT_TRUE(Blocks(&config, false));
  config.blocking = 0;
  EXPECT_FALSE(Blocks(&config, true));
}

TEST(Options, SimulationInfoIsChecked) {
  const auto why_not = [](const ncclSimInfo_t* info) {
    const Status status = CheckSimInfo(info);
    return status.ok() ? "" : status.error().message;
  };
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  EXPECT_EQ(why_not(&info), "");
  EXPECT_EQ(why_not(nullptr), "simInfo is NULL");
  info.size = 1;
  EXPECT_THAT(why_not(&info), HasSubstr("simInfo->size is 1"));
  info.magic = 0;
  EXPECT_THAT(why_not(&info), HasSubstr("simInfo->magic is 0x0"));
}

}  // namespace
}  // namespace ringlet::c_api
