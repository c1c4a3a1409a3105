#include "tool/draw/picture_file.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace ringlet::cli {
namespace {

TEST(PictureFileTest, WritesAFileOrReportsAnError) {
  const std::string path = testing::TempDir() + "ringlet_picture_test.svg";
  EXPECT_TRUE(ShowPicture("<svg/>", {.output = path}).ok());
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "<svg/>");
  std::filesystem::remove(path);
  const Status status = ShowPicture("<svg/>", {.output = "/nowhere/x.svg"});
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, testing::HasSubstr("/nowhere/x.svg cannot be written"));
}

}  // namespace
}  // namespace ringlet::cli
