#include "os/fs/file_tree.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cerrno>

#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::os {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// All tests must pass for openat2 and for our own walk.
class FileTreeTest : public testing::TestWithParam<FileTree::Resolver> {
 protected:
  FileTree Tree() { return FileTree::Open(temp_.root(), GetParam()).value(); }
  int ErrnoOf(std::string_view path) {
    const Result<std::string> read = Tree().Read(path);
    return read.ok() ? 0 : read.error().os_errno;
  }
  TempTree temp_;
};

INSTANTIATE_TEST_SUITE_P(Resolvers, FileTreeTest,
                         testing::Values(FileTree::Resolver::kBest, FileTree::Resolver::kWalk),
                         [](const auto& resolver) {
                           return resolver.param == FileTree::Resolver::kBest ? "Best" : "Walk";
                         });

TEST_P(FileTreeTest, ReadsWithAndWithoutLeadingSlash) {
  temp_.Write("sys/a/b", "content\n");
  EXPECT_EQ(Tree().Read("sys/a/b").value(), "content\n");
  EXPECT_EQ(Tree().Read("/sys/a/b").value(), "content\n");
  EXPECT_EQ(Tree().Read("/sys//a/./../a/b").value(), "content\n");
}

TEST_P(FileTreeTest, ListsSortedNames) {
  temp_.Write("d/b", "").Write("d/a", "").Directory("d/c");
  EXPECT_THAT(Tree().List("d").value(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Tree().List("/").value(), ElementsAre("d"));
  EXPECT_THAT(Tree().List("").value(), ElementsAre("d"));
  EXPECT_FALSE(Tree().List("d/a").ok());
}

TEST_P(FileTreeTest, LinksAreFollowedRelativeAndAbsolute) {
  temp_.Write("devices/x/speed", "100").Link("class/rel", "../devices/x");
  temp_.Link("class/abs", "/devices/x").Link("class/chain", "rel").Link("class/file", "rel/speed");
  for (const char* path : {"class/rel/speed", "class/abs/speed", "class/chain/speed", "class/file",
                           "class/rel/../x/speed"})
    EXPECT_EQ(Tree().Read(path).value(), "100") << path;
  EXPECT_THAT(Tree().List("class/abs").value(), ElementsAre("speed"));
}

TEST_P(FileTreeTest, NoFileOutsideTheRootIsReached) {
  TempTree outside;
  outside.Write("secret", "secret");
  temp_.Link("abs", outside.At("secret")).Link("up", "../../../../../../../../etc/passwd");
  temp_.Write("etc/own", "own").Link("deep/own", "../../../../etc/own");
  for (const char* path : {"abs", "up", "../../../../../etc/passwd"})
    EXPECT_EQ(ErrnoOf(path), ENOENT) << path;
  EXPECT_EQ(Tree().Read("deep/own").value(), "own");
}

TEST_P(FileTreeTest, AnErrorNamesTheFile) {
  const Result<std::string> missing = Tree().Read("sys/no/such");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, Code::kSystem);
  EXPECT_EQ(missing.error().os_errno, ENOENT);
  EXPECT_THAT(missing.error().message, HasSubstr(temp_.root() + "/sys/no/such: No such file"));
}

TEST_P(FileTreeTest, FoldersPipesAndBrokenLinksAreRefusedAtOnce) {
  temp_.Directory("d").Write("f", "x").Link("loop", "loop").Link("dangling", "nowhere");
  ASSERT_EQ(mkfifo(temp_.At("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ErrnoOf("d"), EISDIR);
  EXPECT_EQ(ErrnoOf("pipe"), EINVAL);
  EXPECT_EQ(ErrnoOf("loop"), ELOOP);
  EXPECT_EQ(ErrnoOf("dangling"), ENOENT);
  EXPECT_EQ(ErrnoOf("f/g"), ENOTDIR);
}

TEST_P(FileTreeTest, ReadingIsBounded) {
  temp_.Write("f", "12345");
  EXPECT_EQ(Tree().Read("f", 5).value(), "12345");
  const Result<std::string> longer = Tree().Read("f", 4);
  ASSERT_FALSE(longer.ok());
  EXPECT_EQ(longer.error().code, Code::kUnsupported);
}

TEST_P(FileTreeTest, ReadLinkReturnsTheTextOfTheLink) {
  temp_.Link("a/l", "/x/../y").Write("f", "").Link("d", "a");
  EXPECT_EQ(Tree().ReadLink("a/l").value(), "/x/../y");
  EXPECT_EQ(Tree().ReadLink("d/l").value(), "/x/../y");
  EXPECT_EQ(Tree().ReadLink("d").value(), "a");
  EXPECT_FALSE(Tree().ReadLink("f").ok());
  EXPECT_FALSE(Tree().ReadLink("none").ok());
}

TEST_P(FileTreeTest, ExistsFollowsLinks) {
  temp_.Write("f", "").Link("good", "f").Link("dangling", "nowhere");
  EXPECT_TRUE(Tree().Exists("f"));
  EXPECT_TRUE(Tree().Exists("good"));
  EXPECT_TRUE(Tree().Exists("/"));
  EXPECT_FALSE(Tree().Exists("dangling"));
  EXPECT_FALSE(Tree().Exists("f/g"));
}

TEST_P(FileTreeTest, TheLiveMachineIsATree) {
  const FileTree live = FileTree::Open("/", GetParam()).value();
  EXPECT_THAT(live.Read("/proc/self/stat").value(), HasSubstr("("));
  EXPECT_THAT(live.ReadLink("/proc/self/ns/net").value(), HasSubstr("net:["));
}

TEST_P(FileTreeTest, AWatcherReceivesEveryAccess) {
  temp_.Write("d/f", "x").Link("d/l", "f");
  FileTree tree = Tree();
  std::vector<std::string> heard;
  tree.set_watcher([&](const FileTree::PathAccess& access) {
    heard.push_back("RLKE"[static_cast<std::size_t>(access.kind)] + std::string(access.path));
  });
  EXPECT_TRUE(tree.Read("d/f").ok());
  EXPECT_TRUE(tree.List("/d").ok());
  EXPECT_TRUE(tree.ReadLink("d/l").ok());
  EXPECT_FALSE(tree.Exists("none"));
  EXPECT_THAT(heard, ElementsAre("Rd/f", "L/d", "Kd/l", "Enone"));
}

TEST_P(FileTreeTest, ListingIsBounded) {
  temp_.Write("d/a", "").Write("d/b", "");
  EXPECT_THAT(Tree().List("d", 2).value(), ElementsAre("a", "b"));
  const auto names = Tree().List("d", 1);
  ASSERT_FALSE(names.ok());
  EXPECT_EQ(names.error().code, Code::kUnsupported);
  EXPECT_THAT(names.error().message, HasSubstr("/d has more than 1 entries"));
}

TEST(FileTreeOpenTest, NamesAnInvalidRoot) {
  const Result<FileTree> none = FileTree::Open("/no/such/root");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("/no/such/root"));
}

}  // namespace
}  // namespace ringlet::os
