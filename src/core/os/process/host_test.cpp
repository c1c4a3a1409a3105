#include "os/process/host.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::os {
namespace {

constexpr std::string_view kStat =
    "100 (odd) name (x) S 1 100 100 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1000 200\n";

TEST(HostTest, TheLiveMachineHasAllValues) {
  const FileTree live = FileTree::Open("/").value();
  const Host host = ReadHost(live);
  EXPECT_NE(host.name, "");
  EXPECT_EQ(host.boot_id.size(), 36u);
  EXPECT_EQ(host.pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(host.uid, geteuid());
  EXPECT_NE(NetNamespace(live), 0u);
  EXPECT_EQ(NetNamespace(live), NetNamespace(live));
  EXPECT_NE(NetNamespaceInode(live), 0u);
  EXPECT_NE(OwnStartTicks(live), 0u);
}

TEST(HostTest, TheNameIsKnownWithoutProc) {
  TempTree empty;
  const FileTree nothing = FileTree::Open(empty.root()).value();
  const Host host = ReadHost(nothing);
  EXPECT_NE(host.name, "");
  EXPECT_EQ(host.boot_id, "");
  EXPECT_EQ(OwnStartTicks(nothing), 0u);
  EXPECT_EQ(NetNamespaceInode(nothing), 0u);
}

TEST(HostTest, ACapturedTreeIsReadFromItsFiles) {
  TempTree temp;
  temp.Write("proc/7/stat", kStat);
  temp.Link("proc/self", "7").Link("proc/7/ns/net", "net:[42]");
  temp.Write("proc/sys/kernel/random/boot_id", "some-boot\n");
  const FileTree tree = FileTree::Open(temp.root()).value();
  const Host host = ReadHost(tree);
  EXPECT_EQ(host.boot_id, "some-boot");
  EXPECT_EQ(OwnStartTicks(tree), 98765u);
  EXPECT_EQ(NetNamespaceInode(tree), 42u);
}

TEST(HostTest, AnotherNetworkNamespaceHasAnotherId) {
  const FileTree live = FileTree::Open("/").value();
  const std::uint64_t here = NetNamespace(live);
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) _exit(2);
    _exit(NetNamespace(live) == here ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "no namespaces can be made here";
  EXPECT_EQ(status, 0);
}

TEST(HostTest, StartTicksFollowTheLastParenthesis) {
  EXPECT_EQ(ParseStartTicks(kStat), 98765u);
  EXPECT_EQ(ParseStartTicks("1 (x) S 1 2"), std::nullopt);
  EXPECT_EQ(ParseStartTicks(""), std::nullopt);
}

TEST(HostTest, ANamespaceIsParsedFromItsBrackets) {
  EXPECT_EQ(ParseNamespaceInode("net:[4026531840]"), 4026531840u);
  for (const char* text : {"", "net", "net:[", "net:[]", "net:[x]", "net:[1"})
    EXPECT_EQ(ParseNamespaceInode(text), std::nullopt) << text;
}

}  // namespace
}  // namespace ringlet::os
