#include "tool/topo.hpp"

#include <gmock/gmock.h>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(TopoTest, HelpNamesEveryCommand) {
  const ToolRun ran = RunCommand({"topo", "--help"});
  EXPECT_EQ(ran.status, 0);
  for (const char* name :
       {"show", "dump", "lint", "diff", "complete", "matrix", "path", "draw", "fuse"})
    EXPECT_THAT(ran.output, HasSubstr(name));
}

TEST(TopoTest, ACommandIsRequired) {
  const ToolRun ran = RunCommand({
      "topo",
  });
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("ringlet topo --help"));
}

}  // namespace
}  // namespace ringlet::cli
