#include "frontends/cli/env.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <cstdlib>

namespace ringlet::cli {
namespace {

using testing::HasSubstr;

struct Ran {
  int status;
  std::string output, errors;
};

Ran RunEnv(const std::vector<std::string>& flags) {
  CLI::App tool("ringlet");
  Action chosen;
  AddEnv(tool, chosen);
  std::vector<std::string> arguments = flags;  // CLI11 wants them backwards
  arguments.push_back("env");
  tool.parse(arguments);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = chosen();
  return {status, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

// Sets RINGLET_DEBUG for one test.
class EnvTest : public testing::Test {
 protected:
  void Set(const char* value) { ::setenv("RINGLET_DEBUG", value, 1); }
  ~EnvTest() override { ::unsetenv("RINGLET_DEBUG"); }
};

TEST_F(EnvTest, TheTableShowsValuesAndOrigins) {
  Set("INFO");
  const Ran ran = RunEnv({});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("RINGLET_DEBUG"));
  EXPECT_THAT(ran.output, HasSubstr("INFO"));
}

TEST_F(EnvTest, JsonIsJson) {
  Set("INFO");
  const auto json = nlohmann::json::parse(RunEnv({"--json"}).output);
  const auto debug = std::find_if(json.begin(), json.end(), [](const auto& setting) {
    return setting.at("name") == "RINGLET_DEBUG";
  });
  ASSERT_NE(debug, json.end());
  EXPECT_EQ(debug->at("value"), "INFO");
}

TEST_F(EnvTest, MarkdownIsThePage) {
  EXPECT_THAT(RunEnv({"--markdown"}).output, testing::StartsWith("# Settings"));
}

TEST_F(EnvTest, ABadEnvironmentIsAnError) {
  Set("LOUD");
  const Ran ran = RunEnv({});
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_THAT(ran.errors, HasSubstr("RINGLET_DEBUG"));
  EXPECT_EQ(ran.output, "");
}

TEST_F(EnvTest, BothFormsAtOnceAreRefused) {
  EXPECT_THROW(RunEnv({"--json", "--markdown"}), CLI::ParseError);
}

}  // namespace
}  // namespace ringlet::cli
