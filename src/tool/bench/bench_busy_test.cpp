#include "tool/bench/bench_busy.hpp"

#include <gtest/gtest.h>

namespace ringlet::cli {
namespace {

TEST(BenchBusyTest, StartsZeroProgramsForZero) {
  const auto programs = StartBusyPrograms(0);
  ASSERT_TRUE(programs.ok());
  EXPECT_TRUE(programs->empty());
}

TEST(BenchBusyTest, EachProgramIsAProcess) {
  auto programs = StartBusyPrograms(2);
  ASSERT_TRUE(programs.ok()) << programs.error().message;
  ASSERT_EQ(programs->size(), 2u);
  EXPECT_NE((*programs)[0].pid(), (*programs)[1].pid());
}

TEST(BenchBusyTest, TheCommandWorksButIsHidden) {
  CLI::App tool("ringlet");
  Action chosen;
  AddBenchBusy(tool, chosen);
  EXPECT_EQ(tool.help().find("busy"), std::string::npos);
  tool.parse(std::vector<std::string>{"busy"});
  EXPECT_TRUE(chosen);
}

}  // namespace
}  // namespace ringlet::cli
