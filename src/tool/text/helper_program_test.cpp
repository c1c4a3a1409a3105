#include "tool/text/helper_program.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

TEST(HelperProgramTest, OnlyExitStatusZeroIsSuccess) {
  EXPECT_TRUE(HelperDid({"true"}));
  EXPECT_FALSE(HelperDid({"false"}));
  EXPECT_FALSE(HelperDid({"/nowhere/ringlet-no-such"}));
}

}  // namespace
}  // namespace ringlet::cli
