#include "tool/text/version.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

std::string VersionOutput(const std::vector<std::string>& flags) {
  return RunCommand({"version"}, flags).output;
}

TEST(VersionTest, PrintsASingleLine) {
  EXPECT_THAT(VersionOutput({}),
              testing::MatchesRegex("ringlet [0-9.]+ \\(NCCL 2[0-9.]+ interface\\)\n"));
}

TEST(VersionTest, PrintsAJsonObject) {
  const auto json = nlohmann::json::parse(VersionOutput({"--json"}));
  EXPECT_EQ(json.at("name"), "ringlet");
  EXPECT_THAT(json.at("version").get<std::string>(), testing::MatchesRegex("[0-9]+\\.[0-9.]+"));
}

}  // namespace
}  // namespace ringlet::cli
