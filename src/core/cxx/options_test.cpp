#include "cxx/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/process/process_of_program.hpp"
#include "cxx/ranks_for_test.hpp"

namespace ringlet::cxx {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

Result<comm::Config> ConfigWith(const CommunicatorOptions& options, const EnvMap& environment) {
  RINGLET_TRY_ASSIGN(const auto process, comm::ProcessOfProgram(environment));
  return ConfigOf(*process, UniqueId{}, Rank{2}, 4, options);
}

TEST(Options, ArePassedToTheConfig) {
  const UniqueId id = {.bytes = {std::byte{7}}};
  const auto config = ConfigWith({.init_timeout = std::chrono::seconds(3),
                                  .timeout = milliseconds(100),
                                  .device = 5,
                                  .more_ids = {id}},
                                 Quiet().environment);
  ASSERT_TRUE(config.ok()) << Said(config);
  EXPECT_EQ(config->rank, 2u);
  EXPECT_EQ(config->size, 4u);
  EXPECT_EQ(config->init_timeout, milliseconds(3000));
  EXPECT_EQ(config->timeout, milliseconds(100));
  EXPECT_EQ(config->device, 5u);
  EXPECT_TRUE(config->names_device);
  EXPECT_EQ(config->more_ids, std::vector<UniqueId>{id});
}

TEST(Options, DefaultToTheSettings) {
  EnvMap environment = Quiet().environment;
  environment["RINGLET_LOCAL_RANK"] = "3";
  const auto config = ConfigWith({}, environment);
  ASSERT_TRUE(config.ok()) << Said(config);
  EXPECT_FALSE(config->init_timeout || config->timeout);
  EXPECT_EQ(config->device, 3u);
  EXPECT_FALSE(config->names_device);
}

TEST(Options, RefuseTimeoutsOutOfBoundsByTheirNames) {
  EXPECT_THAT(Said(ConfigWith({.timeout = milliseconds(99)}, Quiet().environment)),
              HasSubstr("timeout is 99 ms, not between 100 and 604800000"));
  EXPECT_THAT(Said(ConfigWith({.init_timeout = milliseconds::max()}, Quiet().environment)),
              HasSubstr("init_timeout is"));
}

}  // namespace
}  // namespace ringlet::cxx
