#include "tool/input/machine_folder.hpp"

#include <gmock/gmock.h>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

TEST(MachineFolderTest, IsThatOfTheBuildTree) {
  const Result<std::string> folder = MachineFolder();
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_TRUE(IsThere(*folder + "/dgx-h100.xml"));
  EXPECT_FALSE(IsThere(*folder + "/no-such.xml"));
  EXPECT_THAT(ToolPath().value(), testing::StartsWith("/"));
}

TEST(MachineFolderTest, EveryCommandAcceptsMachineNames) {
  const std::string file = MachineFolder().value() + "/dgx-h100.xml";
  for (const std::vector<std::string>& command : {std::vector<std::string>{"plan"},
                                                  {"predict"},
                                                  {"predict", "allreduce"},
                                                  {"explain"},
                                                  {"topo", "show"},
                                                  {"topo", "matrix"},
                                                  {"topo", "path", "GPU0", "GPU1"},
                                                  {"topo", "dump"},
                                                  {"topo", "lint"},
                                                  {"topo", "check"}}) {
    const ToolRun named = RunCommand(command, {"DGX-h100"});
    const ToolRun by_file = RunCommand(command, {file});
    EXPECT_LE(named.status, 1) << command.back() << ": " << named.errors;
    EXPECT_EQ(named.status, by_file.status) << command.back();
    EXPECT_FALSE(named.output.empty() && named.errors.empty()) << command.back();
  }
}

TEST(MachineFolderTest, AMissingFileGivesOneStatusAndTheNearestName) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"plan"},
                                                  {"predict"},
                                                  {"explain"},
                                                  {"topo", "show"},
                                                  {"topo", "lint"},
                                                  {"topo", "check"},
                                                  {"topo", "matrix"},
                                                  {"topo", "dump"}}) {
    const ToolRun ran = RunCommand(command, {"dgx-h10"});
    EXPECT_EQ(ran.status, kExitUsage) << command.back() << ": " << ran.errors;
    EXPECT_THAT(ran.errors + ran.output, testing::HasSubstr("did you mean dgx-h100?"))
        << command.back();
  }
  EXPECT_THAT(RunCommand({"plan", "./dgx-h10"}).errors,
              testing::Not(testing::HasSubstr("did you mean")));
}

}  // namespace
}  // namespace ringlet::cli
