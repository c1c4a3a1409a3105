#include "os/process/process_state.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace ringlet::os {
namespace {

TEST(ProcessStateIn, FollowsTheNameOfTheProgram) {
  EXPECT_EQ(ProcessStateIn("12 (a) R 1"), "running");
  EXPECT_EQ(ProcessStateIn("12 (a) b) R (c) S 1"), "sleeping");
  EXPECT_EQ(ProcessStateIn("12 (a) T 1"), "stopped");
  EXPECT_EQ(ProcessStateIn("12 (a) Z 1"), "ended");
  EXPECT_EQ(ProcessStateIn("12 (a) ? 1"), "");
  EXPECT_EQ(ProcessStateIn("12 (a)"), "");
  EXPECT_EQ(ProcessStateIn(""), "");
}

TEST(ProcessState, MatchesTheKernel) {
  const FileTree files = FileTree::Open("/").value();
  EXPECT_NE(ProcessState(files, static_cast<std::uint32_t>(::getpid())), "ended");
  EXPECT_EQ(ProcessState(files, 0x7fff'ffff), "ended") << "above the largest pid";
}

}  // namespace
}  // namespace ringlet::os
