#include "os/fs/rooted_walk.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "os/fs/temp_tree_for_test.hpp"

// The promises of FileTree are tested in file_tree_test.cpp, for both resolvers.
namespace ringlet::os {
namespace {

TEST(RootedWalkTest, LinksAreBoundedLikeTheKernel) {
  TempTree temp;
  temp.Write("l40", "x");
  for (int i = 39; i >= 0; --i) temp.Link("l" + std::to_string(i), "l" + std::to_string(i + 1));
  temp.Link("start", "l0");
  const Fd root(open(temp.root().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(OpenByWalk(root.get(), "l0", O_RDONLY).valid());
  EXPECT_FALSE(OpenByWalk(root.get(), "start", O_RDONLY).valid());
  EXPECT_EQ(errno, ELOOP);
}

// /proc contains such a link for the folder of a process that has ended, without a readable text.
TEST(RootedWalkTest, AnUnreadableLinkIsRefused) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  const Fd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_FALSE(OpenByWalk(root.get(), "/proc/" + std::to_string(child) + "/cwd", O_RDONLY).valid());
  ::waitpid(child, nullptr, 0);
}

TEST(RootedWalkTest, AnEndlessPathIsRefused) {
  const Fd root(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  EXPECT_FALSE(OpenByWalk(root.get(), std::string(100'000, '/'), O_RDONLY).valid());
  EXPECT_EQ(errno, ENAMETOOLONG);
}

}  // namespace
}  // namespace ringlet::os
