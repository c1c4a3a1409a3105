#include "tool/text/env.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <cstdlib>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

ToolRun RunEnv(const std::vector<std::string>& flags) {
  return RunCommand({"env"}, flags);
}

// Sets RINGLET_DEBUG for one test.
class EnvTest : public testing::Test {
 protected:
  void Set(const char* value) { ::setenv("RINGLET_DEBUG", value, 1); }
  ~EnvTest() override { ::unsetenv("RINGLET_DEBUG"); }
};

TEST_F(EnvTest, TheTableShowsValuesAndOrigins) {
  Set("INFO");
  const ToolRun ran = RunEnv({});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("RINGLET_DEBUG"));
  EXPECT_THAT(ran.output, HasSubstr("INFO"));
}

TEST_F(EnvTest, ShowsASettingByAnyOfItsNames) {
  Set("INFO");
  for (const char* name : {"RINGLET_DEBUG", "NCCL_DEBUG", "debug"}) {
    const ToolRun ran = RunEnv({name});
    EXPECT_EQ(ran.status, 0) << ran.errors;
    EXPECT_THAT(ran.output, HasSubstr("RINGLET_DEBUG "));
    EXPECT_EQ(std::count(ran.output.begin(), ran.output.end(), '\n'), 2) << ran.output;
  }
  EXPECT_EQ(nlohmann::json::parse(RunEnv({"DEBUG", "--json"}).output).size(), 1u);
  const ToolRun unknown = RunEnv({"NCCL_DEBUGG"});
  EXPECT_EQ(unknown.status, kExitUsage);
  EXPECT_EQ(unknown.errors,
            "ringlet env: \"NCCL_DEBUGG\" is not a setting; did you mean RINGLET_DEBUG?\n");
}

TEST_F(EnvTest, JsonListsEachSetting) {
  Set("INFO");
  const auto json = nlohmann::json::parse(RunEnv({"--json"}).output);
  const auto debug = std::find_if(json.begin(), json.end(), [](const auto& setting) {
    return setting.at("name") == "RINGLET_DEBUG";
  });
  ASSERT_NE(debug, json.end());
  EXPECT_EQ(debug->at("value"), "INFO");
}

TEST_F(EnvTest, MarkdownIsTheSettingsPage) {
  EXPECT_THAT(RunEnv({"--markdown"}).output, testing::StartsWith("# Settings"));
}

TEST_F(EnvTest, AnInvalidEnvironmentIsAnError) {
  Set("LOUD");
  const ToolRun ran = RunEnv({});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("RINGLET_DEBUG"));
  EXPECT_EQ(ran.output, "");
}

TEST_F(EnvTest, ReportsVariablesWithoutEffect) {
  ::setenv("NCCL_BUFFSIZE", "1", 1);
  ::setenv("NCCL_BUFFSIZES", "1", 1);
  const ToolRun ran = RunEnv({});
  ::unsetenv("NCCL_BUFFSIZE");
  ::unsetenv("NCCL_BUFFSIZES");
  EXPECT_THAT(ran.errors, HasSubstr("NCCL_BUFFSIZE: NCCL reads this"));
  EXPECT_THAT(ran.errors, HasSubstr("did you mean NCCL_BUFFSIZE?"));
}

TEST_F(EnvTest, RefusesBothFormatsAtOnce) {
  EXPECT_EQ(RunEnv({"--json", "--markdown"}).status, kExitUsage);
}

}  // namespace
}  // namespace ringlet::cli
