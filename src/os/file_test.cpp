#include "os/file.hpp"

#include <gtest/gtest.h>

#include "os/file_tree.hpp"
#include "os/temp_tree_for_test.hpp"

namespace ringlet::os {
namespace {

TEST(WriteFile, MakesAndReplaces) {
  const TempTree tree;
  const std::string path = tree.root() + "/a";
  ASSERT_TRUE(WriteFile(path, "a longer text").ok());
  ASSERT_TRUE(WriteFile(path, "text").ok());
  EXPECT_EQ(*FileTree::Open(tree.root())->Read("a"), "text");
}

TEST(WriteFile, NamesWhatItCannotWrite) {
  const Status status = WriteFile("/no/such/place", "x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kSystem);
  EXPECT_NE(status.error().message.find("/no/such/place"), std::string::npos);
}

}  // namespace
}  // namespace ringlet::os
