#include "frontends/cli/emulate/machine_folder.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

TEST(MachineFolderTest, IsTheOneOfTheBuildTree) {
  const Result<std::string> folder = MachineFolder();
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_TRUE(IsThere(*folder + "/dgx-h100.xml"));
  EXPECT_FALSE(IsThere(*folder + "/no-such.xml"));
  EXPECT_THAT(ToolPath().value(), testing::StartsWith("/"));
}

}  // namespace
}  // namespace ringlet::cli
