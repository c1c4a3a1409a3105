#include "programs/private_folder.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "os/fs/write_file.hpp"

namespace ringlet::os {
namespace {

using testing::HasSubstr;

TEST(PrivateFolderTest, AdmitsOnlyItsUserAndIsRemovedAtTheEnd) {
  std::string path;
  {
    const auto folder = PrivateFolder::Make(testing::TempDir(), "ringlet-test");
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    path = (*folder)->path();
    EXPECT_THAT(path, HasSubstr("/ringlet-test-"));
    struct stat is {};
    ASSERT_EQ(stat(path.c_str(), &is), 0);
    EXPECT_EQ(is.st_mode & 0777U, 0700U);
    EXPECT_TRUE(WriteFile(path + "/file", "text").ok());
    EXPECT_NE((*PrivateFolder::Make(testing::TempDir(), "ringlet-test"))->path(), path);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(PrivateFolderTest, NamesAMissingParentFolder) {
  const auto folder = PrivateFolder::Make("/nowhere/at-all", "ringlet-test");
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message, HasSubstr("/nowhere/at-all"));
  EXPECT_THAT(folder.error().message, HasSubstr("TMPDIR"));
}

}  // namespace
}  // namespace ringlet::os
