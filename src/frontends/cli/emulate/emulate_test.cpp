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
        std::pair{"--memory", "1K"}, std::pair{"--kernels", "/nowhere/kernels.so"},
        std::pair{"--machine", "cray-1"}, std::pair{"--hosts", "0"}, std::pair{"-n", "5000"},
        std::pair{"--policy", "fast"}}) {
    const ToolRun ran = RunCommand({"emulate", option, value, "--", "true"});
    EXPECT_EQ(ran.status, 2) << option << value;
    EXPECT_THAT(ran.errors, HasSubstr(std::string(option).substr(option[1] == '-' ? 2 : 1)))
        << value;
  }
}

TEST(EmulateTest, AMachineHasNoMoreDevicesThanItsGpus) {
  const ToolRun ran =
      RunCommand({"emulate", "--machine", "2 gpu a10g", "--devices", "3", "--", "true"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("2 GPUs"));
}

TEST(EmulateTest, NamedMachinesAreListed) {
  const ToolRun ran = RunCommand({"emulate", "--list-machines"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("dgx-h100"));
  EXPECT_THAT(ran.output, HasSubstr("NVIDIA H100 80GB HBM3"));
}

}  // namespace
}  // namespace ringlet::cli
