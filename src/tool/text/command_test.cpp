#include "tool/text/command.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

TEST(CommandTest, AnErrorIsOneLineOnStandardError) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Fail("bench", Error{Code::kPeerLost, "rank 2 is gone"}), kExitFailed);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ringlet bench: rank 2 is gone\n");
}

TEST(CommandTest, AUserErrorHasItsOwnStatus) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(Fail("env", Error{Code::kInvalidArgument, "RINGLET_RANK"}), kExitUsage);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ringlet env: RINGLET_RANK\n");
}

TEST(CommandTest, TheLogUsesStandardErrorByDefault) {
  EXPECT_EQ(WithLogOnErrors({{"A", "b"}}),
            (EnvMap{{"A", "b"}, {"RINGLET_DEBUG_FILE", "/dev/stderr"}}));
  EXPECT_EQ(WithLogOnErrors({{"RINGLET_DEBUG_FILE", ""}}),
            (EnvMap{{"RINGLET_DEBUG_FILE", "/dev/stderr"}}));
}

TEST(CommandTest, KeepsAnExplicitLogFile) {
  const EnvMap ours{{"RINGLET_DEBUG_FILE", "/tmp/log"}}, nccls{{"NCCL_DEBUG_FILE", "/tmp/log"}};
  EXPECT_EQ(WithLogOnErrors(ours), ours);
  EXPECT_EQ(WithLogOnErrors(nccls), nccls);
}

}  // namespace
}  // namespace ringlet::cli
