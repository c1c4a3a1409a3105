#include "tool/text/helper_program.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

TEST(HelperProgramTest, OnlyExitStatusZeroIsSuccess) {
  EXPECT_TRUE(RunHelper({"true"}));
  EXPECT_FALSE(RunHelper({"false"}));
  EXPECT_FALSE(RunHelper({"/nowhere/ringlet-no-such"}));
}

}  // namespace
}  // namespace ringlet::cli
