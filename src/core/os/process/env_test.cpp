#include "os/process/env.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace ringlet::os {
namespace {

TEST(EnvTest, ContainsTheEnvironmentOfTheProcess) {
  ASSERT_EQ(setenv("RINGLET_ENV_TEST", "a=b", 1), 0);
  ASSERT_EQ(setenv("RINGLET_ENV_TEST_EMPTY", "", 1), 0);
  const EnvMap env = ReadEnvironment();
  EXPECT_EQ(env.at("RINGLET_ENV_TEST"), "a=b");
  EXPECT_EQ(env.at("RINGLET_ENV_TEST_EMPTY"), "");
  unsetenv("RINGLET_ENV_TEST");
  unsetenv("RINGLET_ENV_TEST_EMPTY");
  EXPECT_FALSE(ReadEnvironment().contains("RINGLET_ENV_TEST"));
}

}  // namespace
}  // namespace ringlet::os
