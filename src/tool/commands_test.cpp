#include "tool/commands.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

TEST(CommandsTest, ParsingChoosesAnAction) {
  Action chosen;
  const auto tool = MakeTool({}, chosen);
  tool->parse(std::vector<std::string>{"version"});
  EXPECT_TRUE(chosen);
}

}  // namespace
}  // namespace ringlet::cli
