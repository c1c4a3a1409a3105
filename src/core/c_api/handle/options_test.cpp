#include "c_api/handle/options.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <utility>

namespace ringlet::c_api {
namespace {

using testing::HasSubstr;
using testing::Pointee;

std::string WhyNot(const ncclConfig_t& config) {
  const auto options = ReadConfig(&config, {});
  return options.ok() ? "" : options.error().message;
}

std::string WhyNot(const ncclCollConfig_t& config) {
  const auto options = ReadCallConfig(&config);
  return options.ok() ? "" : options.error().message;
}

TEST(Options, AConfigIsCheckedFieldByField) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(WhyNot(config), "");
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

TEST(Options, FieldsThatAnOlderConfigLacksAreIgnored) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.size = offsetof(ncclConfig_t, cgaClusterSize);
  config.cgaClusterSize = 99;
  EXPECT_EQ(WhyNot(config), "");
}

TEST(Options, ValuesOutOfRangeAreRefused) {
  struct Case {
    int ncclConfig_t::*field;
    int bad;
  };
  const Case cases[] = {
      {&ncclConfig_t::cgaClusterSize, -1},      {&ncclConfig_t::maxCTAs, -5},
      {&ncclConfig_t::collnetEnable, 2},        {&ncclConfig_t::CTAPolicy, 4},
      {&ncclConfig_t::shrinkShare, 2},          {&ncclConfig_t::nvlsCTAs, 0},
      {&ncclConfig_t::nChannelsPerNetPeer, 65}, {&ncclConfig_t::nvlinkCentricSched, 2},
      {&ncclConfig_t::graphUsageMode, 3},       {&ncclConfig_t::numRmaCtx, -1},
      {&ncclConfig_t::maxP2pPeers, 0},          {&ncclConfig_t::graphStreamOrdering, 2},
      {&ncclConfig_t::launchOrderImplicit, -1}, {&ncclConfig_t::numRmaSig, -2},
      {&ncclConfig_t::rmaEagerInit, 2},         {&ncclConfig_t::hostCftMode, 4},
      {&ncclConfig_t::nvlsHostMode, -1}};
  for (const Case& one : cases) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.*one.field = one.bad;
    EXPECT_THAT(WhyNot(config), HasSubstr(" is " + std::to_string(one.bad)));
    config.*one.field = 1;
    EXPECT_EQ(WhyNot(config), "");
  }
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.minCTAs = 9;
  EXPECT_EQ(WhyNot(config), "");
  config.maxCTAs = 8;
  EXPECT_EQ(WhyNot(config), "config->minCTAs is 9, above config->maxCTAs, 8");
}

// The size of the struct in each of NCCL's releases, and the last field of each.
TEST(Options, EveryVersionOfAConfigIsAccepted) {
  const std::pair<unsigned, std::size_t> versions[] = {
      {21403, 24}, {21701, 40}, {21805, 48}, {22602, 48}, {22703, 72},
      {22809, 80}, {22907, 88}, {23003, 96}, {23007, 96}, {23203, 120}};
  for (const auto& [version, size] : versions) {
    SCOPED_TRACE(version);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.size = size;
    config.version = version;
    config.blocking = 0;
    config.graphUsageMode = version < 22900 ? 99 : 1;  // garbage beyond the version's fields
    config.hostCftMode = version < 23100 ? 99 : 1;
    const auto options = ReadConfig(&config, {});
    ASSERT_TRUE(options.ok()) << options.error().message;
    EXPECT_FALSE(options->blocking);
  }
  ncclConfig_t older = NCCL_CONFIG_INITIALIZER;  // a buffer large enough for this version
  older.version = 22809;
  older.hostCftMode = 99;
  EXPECT_EQ(WhyNot(older), "");
  ncclConfig_t newer = NCCL_CONFIG_INITIALIZER;
  newer.size = 200;
  newer.version = 24000;
  EXPECT_EQ(WhyNot(newer), "");
}

TEST(Options, ANullConfigInheritsAllOptions) {
  const CommOptions parents{.blocking = false,
                            .name = std::make_shared<const std::string>("parent"),
                            .contexts = 3,
                            .signals = 4};
  const auto inherited = ReadConfig(nullptr, parents);
  EXPECT_FALSE(inherited->blocking);
  EXPECT_EQ(inherited->contexts, 3u);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  const auto own = ReadConfig(&config, parents);
  EXPECT_TRUE(own->blocking);
  EXPECT_EQ(own->name, nullptr);
  EXPECT_EQ(own->contexts, 1u);
  EXPECT_EQ(own->signals, 1u);
}

TEST(Options, ReportsFieldsWithoutEffect) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  EXPECT_TRUE(WithoutEffect(&config).empty());
  EXPECT_TRUE(WithoutEffect(nullptr).empty());
  config.blocking = 0;
  config.commName = "it";
  config.numRmaSig = 8;
  config.maxCTAs = 4;
  config.netName = "IB";
  const auto notes = WithoutEffect(&config);
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_THAT(notes[0], HasSubstr("ncclConfig_t::maxCTAs is ignored"));
  EXPECT_THAT(notes[1], HasSubstr("netName"));
  const auto options = ReadConfig(&config, {});
  EXPECT_THAT(options->name, Pointee(std::string("it")));
  EXPECT_EQ(options->signals, 8u);
}

TEST(Options, AConfigOfACallIsChecked) {
  ncclCollConfig_t config = NCCL_COLLCONFIG_INITIALIZER;
  EXPECT_EQ(WhyNot(config), "");
  EXPECT_TRUE(ReadCallConfig(nullptr)->algorithms.empty());
  config.algSelection = "ring";
  config.forceAlgSelection = 0;
  EXPECT_EQ(ReadCallConfig(&config)->algorithms, "ring");
  EXPECT_FALSE(ReadCallConfig(&config)->forces);
  config.forceAlgSelection = 2;
  EXPECT_THAT(WhyNot(config), HasSubstr("forceAlgSelection is 2"));
  config = NCCL_COLLCONFIG_INITIALIZER;
  config.minCTAs = 0;
  EXPECT_THAT(WhyNot(config), HasSubstr("minCTAs is 0"));
  config = NCCL_COLLCONFIG_INITIALIZER;
  config.launchCompletionEvent = reinterpret_cast<cudaEvent_t>(&config);
  EXPECT_EQ(ReadCallConfig(&config)->begins, config.launchCompletionEvent);
  config.size = 64;  // NCCL 2.31's struct, without the event
  EXPECT_EQ(ReadCallConfig(&config)->begins, nullptr);
  config.size = 63;
  EXPECT_THAT(WhyNot(config), HasSubstr("config->size is 63"));
  config.magic = 0;
  EXPECT_THAT(WhyNot(config), HasSubstr("NCCL_COLLCONFIG_INITIALIZER"));
  config = NCCL_COLLCONFIG_INITIALIZER;
  const std::string endless(5000, 'x');
  config.algSelection = endless.c_str();
  EXPECT_THAT(WhyNot(config), HasSubstr("algSelection has"));
}

TEST(Options, AKeyHasAMinimumLengthAndIsNotShown) {
  ncclEncryptionConfig_t config = NCCL_ENCRYPTION_CONFIG_INITIALIZER;
  EXPECT_FALSE(ReadEncryption(config)->wanted);
  config.mode = NCCL_ENCRYPTION_MODE_PSK;
  EXPECT_EQ(ReadEncryption(config).error().message, "config->psk is NULL");
  config.psk = "hush-hush";
  EXPECT_EQ(ReadEncryption(config).error().message, "config->psk has 9 bytes, not 32 to 4096");
  const std::string key(32, 'k');
  config.psk = key.c_str();
  EXPECT_TRUE(ReadEncryption(config)->wanted);
  EXPECT_EQ(ReadEncryption(config)->key, key);
  config.mode = 2;
  EXPECT_THAT(ReadEncryption(config).error().message, HasSubstr("config->mode is 2"));
  config.magic = 0;
  EXPECT_THAT(ReadEncryption(config).error().message, HasSubstr("magic"));
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
