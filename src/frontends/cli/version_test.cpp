#include "frontends/cli/version.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace ringlet::cli {
namespace {

std::string OutputOf(std::vector<std::string> flags) {
  CLI::App tool("ringlet");
  Action chosen;
  AddVersion(tool, chosen);
  flags.push_back("version");
  tool.parse(flags);
  testing::internal::CaptureStdout();
  EXPECT_EQ(chosen(), 0);
  return testing::internal::GetCapturedStdout();
}

TEST(VersionTest, OneLineForPeople) {
  EXPECT_THAT(OutputOf({}),
              testing::MatchesRegex("ringlet [0-9.]+ \\(NCCL 2[0-9.]+ interface\\)\n"));
}

TEST(VersionTest, OneObjectForPrograms) {
  const auto json = nlohmann::json::parse(OutputOf({"--json"}));
  EXPECT_EQ(json.at("name"), "ringlet");
  EXPECT_THAT(json.at("version").get<std::string>(), testing::MatchesRegex("[0-9]+\\.[0-9.]+"));
}

}  // namespace
}  // namespace ringlet::cli
