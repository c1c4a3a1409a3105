#include "tool/sim/sim_reform.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/value/text.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ToolRun SimReform(const std::vector<std::string>& arguments) {
  return RunCommand({"sim", "reform"}, arguments);
}

TEST(SimReformTest, PrintsARowPerSize) {
  const ToolRun ran = SimReform({"-n", "16,64", "--kill", "2", "--which", "first"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  EXPECT_THAT(ran.output, AllOf(HasSubstr("--kill 2 --which first"), HasSubstr("\n       16 "),
                                HasSubstr("\n       64 ")));
  EXPECT_EQ(ran.errors, "");
}

TEST(SimReformTest, JsonIsALinePerSize) {
  const ToolRun ran = SimReform({"-n", "16,32", "--kill", "25%", "--later", "1", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  const auto lines = Split(ran.output, '\n');
  ASSERT_GE(lines.size(), 2u);
  const auto row = nlohmann::json::parse(lines[1]);
  EXPECT_EQ(row.at("n"), 32);
  EXPECT_EQ(row.at("died"), 9);
  EXPECT_EQ(row.at("reformed"), 23);
  EXPECT_GT(row.at("agreed_ms"), row.at("told_ms"));
  EXPECT_GT(row.at("memory_bytes"), 1'000'000);
}

TEST(SimReformTest, RefusesImpossibleDeaths) {
  for (const auto& [kill, why] : {std::pair{"0", "--kill \"0\""},
                                  {"x", "--kill \"x\""},
                                  {"%", "--kill \"%\""},
                                  {"100%", "--kill \"100%\""},
                                  {"nan%", "--kill \"nan%\""},
                                  {"16", "16 of 16 ranks would die"}}) {
    const ToolRun ran = SimReform({"-n", "16", "--kill", kill});
    EXPECT_NE(ran.status, 0) << kill;
    EXPECT_THAT(ran.errors, HasSubstr(why));
    EXPECT_EQ(ran.output, "");
  }
}

}  // namespace
}  // namespace ringlet::cli
