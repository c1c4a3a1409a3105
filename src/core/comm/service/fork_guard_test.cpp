#include "comm/service/fork_guard.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ringlet::comm {
namespace {

TEST(ForkGuard, IsNotHereInAForkedChild) {
  const ForkGuard fork_guard;
  EXPECT_TRUE(fork_guard.IsHere());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(fork_guard.IsHere() ? 1 : 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ringlet::comm
