#include "frontends/cli/command.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

TEST(CommandTest, AnErrorIsOneLineOnStandardError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Fail("bench", Error{Code::kPeerLost, "rank 2 is gone"}), kExitFailed);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ringlet bench: rank 2 is gone\n");
}

TEST(CommandTest, AMistakeOfTheUserHasAStatusOfItsOwn) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Fail("env", Error{Code::kInvalidArgument, "RINGLET_RANK"}), kExitUsage);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ringlet env: RINGLET_RANK\n");
}

}  // namespace
}  // namespace ringlet::cli
