#include "topology_api/named_file.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

namespace ringlet::topology {
namespace {

using testing::HasSubstr;

class NamedFileTest : public testing::Test {
 protected:
  NamedFileTest() : path_(testing::TempDir() + "ringlet_named_file_" + std::to_string(getpid())) {
    std::ofstream(path_) << "four";
  }
  ~NamedFileTest() override { unlink(path_.c_str()); }
  std::string path_;
};

TEST_F(NamedFileTest, ReadsAsManyBytesAsAllowed) {
  EXPECT_EQ(*ReadNamedFile(path_, 4), "four");
  EXPECT_EQ(ReadNamedFile(path_, 3).error().code, Code::kUnsupported);
}

TEST_F(NamedFileTest, AMissingFileIsAnInvalidArgument) {
  const auto text = ReadNamedFile(path_ + ".missing", 4);
  EXPECT_EQ(text.error().code, Code::kInvalidArgument);
  EXPECT_THAT(text.error().message, HasSubstr(".missing"));
}

TEST_F(NamedFileTest, AFolderCannotBeRead) {
  EXPECT_EQ(ReadNamedFile(testing::TempDir(), 4).error().code, Code::kSystem);
}

}  // namespace
}  // namespace ringlet::topology
