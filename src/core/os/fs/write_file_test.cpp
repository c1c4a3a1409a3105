#include "os/fs/write_file.hpp"

#include <gmock/gmock.h>

#include "os/fs/file_tree.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::os {
namespace {

using testing::HasSubstr;

TEST(WriteFileTest, ReplacesEarlierContents) {
  TempTree tree;
  const FileTree files = FileTree::Open(tree.root()).value();
  const std::string large(300'000, 'x');
  EXPECT_TRUE(WriteFile(tree.At("f"), large).ok());
  EXPECT_EQ(files.Read("f").value(), large);
  EXPECT_TRUE(WriteFile(tree.At("f"), "short").ok());
  EXPECT_EQ(files.Read("f").value(), "short");
}

TEST(WriteFileTest, AReplacedFileIsNeverPartlyWritten) {
  TempTree tree;
  const FileTree files = FileTree::Open(tree.root()).value();
  ASSERT_TRUE(WriteFile(tree.At("f"), "before").ok());
  EXPECT_TRUE(ReplaceFile(tree.At("f"), "after").ok());
  EXPECT_EQ(files.Read("f").value(), "after");
  EXPECT_FALSE(files.Exists("f.new"));
  EXPECT_THAT(ReplaceFile(tree.At("no/such"), "x").error().message, HasSubstr("no/such"));
}

TEST(WriteFileTest, AFailureNamesTheFile) {
  TempTree tree;
  const Status status = WriteFile(tree.At("no/such/folder"), "x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kSystem);
  EXPECT_THAT(status.error().message, HasSubstr("no/such/folder: No such file"));
  EXPECT_FALSE(WriteFile("/dev/full", "x").ok());
}

TEST(WriteFileTest, AFolderIsCreatedOnce) {
  TempTree tree;
  EXPECT_TRUE(CreateFolder(tree.At("a/b")).ok());
  EXPECT_TRUE(CreateFolder(tree.At("a/b")).ok());
  EXPECT_TRUE(WriteFile(tree.At("a/b/f"), "x").ok());
  EXPECT_THAT(CreateFolder(tree.At("a/b/f/c")).error().message, HasSubstr("a/b/f/c: "));
  EXPECT_FALSE(CreateFolder(tree.At("a/b/f")).ok());
}

}  // namespace
}  // namespace ringlet::os
