#include "frontends/cli/emulate/emulate.hpp"

#include <gmock/gmock.h>

#include "frontends/cli/tool_run_for_test.hpp"

// A run becomes the program, so test/emulate has the tests of it.
namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(EmulateTest, AProgramIsNeeded) {
  const ToolRun ran = RunCommand({"emulate", "--devices", "2"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("no program"));
}

TEST(EmulateTest, WrongOptionsAreNamed) {
  for (const auto& [option, value] :
       {std::pair{"--devices", "0"}, std::pair{"--devices", "65"}, std::pair{"--memory", "much"},
        std::pair{"--memory", "1K"}, std::pair{"--kernels", "/nowhere/kernels.so"}}) {
    const ToolRun ran = RunCommand({"emulate", option, value, "--", "true"});
    EXPECT_EQ(ran.status, 2) << option << value;
    EXPECT_THAT(ran.errors, HasSubstr(std::string(option).substr(2))) << value;
  }
}

}  // namespace
}  // namespace ringlet::cli
