#include "tool/emulate/emulate.hpp"

#include <gmock/gmock.h>

#include "tool/tool_run_for_test.hpp"

// `emulate` replaces this process by the program, so its other tests are in test/emulate.
namespace ringlet::cli {
namespace {

using testing::HasSubstr;

TEST(EmulateTest, NeedsAProgram) {
  const ToolRun ran = RunCommand({"emulate", "--devices", "2"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("no program"));
}

TEST(EmulateTest, NamesWrongOptions) {
  for (const auto& [option, value] :
       {std::pair{"--devices", "0"}, std::pair{"--devices", "65"}, std::pair{"--memory", "much"},
        std::pair{"--memory", "1K"}, std::pair{"--kernels", "/nowhere/kernels.so"},
        std::pair{"--machine", "cray-1"}, std::pair{"--hosts", "0"}, std::pair{"-n", "5000"},
        std::pair{"--policy", "fast"}, std::pair{"--machine", ""}, std::pair{"--sysfs", "some"},
        std::pair{"--sysfs", "on"}, std::pair{"--slow", "link=NET0:0.1"}}) {
    const ToolRun ran = RunCommand({"emulate", option, value, "--", "true"});
    EXPECT_EQ(ran.status, 2) << option << value;
    EXPECT_THAT(ran.errors, HasSubstr(std::string(option).substr(option[1] == '-' ? 2 : 1)))
        << value;
  }
}

TEST(EmulateTest, RefusesMoreDevicesThanGpus) {
  const ToolRun ran =
      RunCommand({"emulate", "--machine", "2 gpu a10g", "--devices", "3", "--", "true"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("2 GPUs"));
}

TEST(EmulateTest, AnUnwritableReportFailsBeforeTheProgramRuns) {
  for (const char* file : {"/nowhere/report.json", "/"}) {
    const ToolRun ran =
        RunCommand({"emulate", "--machine", "2 gpu a10g", "--report", file, "--", "true"});
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.errors, HasSubstr("--report: cannot write " + std::string(file)));
  }
}

TEST(EmulateTest, RefusesToKillARankOutOfRange) {
  const ToolRun ran = RunCommand({"emulate", "-n", "2", "--kill", "2@all_reduce", "--", "true"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("rank 2 is not one of 2"));
}

TEST(EmulateTest, NamesTheLinksNearestToAnUnknownOne) {
  const ToolRun ran = RunCommand(
      {"emulate", "--machine", "2 gpu a10g, 1 nic 100g", "--slow", "link=NET3:0.1", "--", "true"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.errors, HasSubstr("the nearest names are NET0"));
}

TEST(EmulateTest, ListsTheNamedMachines) {
  const ToolRun ran = RunCommand({"emulate", "--list-machines"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, HasSubstr("dgx-h100"));
  EXPECT_THAT(ran.output, HasSubstr("NVIDIA H100 80GB HBM3"));
}

}  // namespace
}  // namespace ringlet::cli
