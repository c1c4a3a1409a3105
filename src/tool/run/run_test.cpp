#include "tool/run/run.hpp"

#include <gmock/gmock.h>

#include "tool/text/input_for_test.hpp"
#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(SplitRunArgumentsTest, TheProgramKeepsItsOptions) {
  const auto split = SplitRunArguments({"-n", "2", "--grace", "1", "prog", "-n", "3", "--", "x"});
  EXPECT_THAT(split.own, ElementsAre("-n", "2", "--grace", "1"));
  EXPECT_THAT(split.program, ElementsAre("prog", "-n", "3", "--", "x"));
}

TEST(SplitRunArgumentsTest, AcceptsTheRankOptionOfMpirun) {
  const auto split = SplitRunArguments({"-np", "4", "prog", "-np", "3"});
  EXPECT_THAT(split.own, ElementsAre("-n", "4"));
  EXPECT_THAT(split.program, ElementsAre("prog", "-np", "3"));
}

TEST(SplitRunArgumentsTest, AnOptionKeepsItsValueWithoutAProgram) {
  for (const char* option : {"-n", "--ranks", "--grace"}) {
    const auto split = SplitRunArguments({option, "2"});
    EXPECT_THAT(split.own, ElementsAre(option, "2"));
    EXPECT_THAT(split.program, IsEmpty());
  }
}

TEST(SplitRunArgumentsTest, TwoDashesEndOurOptions) {
  const auto split = SplitRunArguments({"-n2", "--grace=1", "--", "--odd", "-n"});
  EXPECT_THAT(split.own, ElementsAre("-n2", "--grace=1"));
  EXPECT_THAT(split.program, ElementsAre("--odd", "-n"));
}

TEST(SplitRunArgumentsTest, WithoutAProgramTheProgramIsEmpty) {
  EXPECT_THAT(SplitRunArguments({"-n"}).program, IsEmpty());
  EXPECT_THAT(SplitRunArguments({"--help"}).own, ElementsAre("--help"));
}

ToolRun RunRun(std::vector<std::string> own, const std::vector<std::string>& program) {
  own.push_back("--");
  own.insert(own.end(), program.begin(), program.end());
  return RunCommand({"run"}, own);
}

TEST(RunTest, PrefixesLinesWithTheirRank) {
  const ToolRun ran =
      RunRun({"-n", "2"}, {"sh", "-c", "echo $RANK/$RINGLET_WORLD_SIZE; echo e >&2"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("[0] 0/2\n"));
  EXPECT_THAT(ran.output, HasSubstr("[1] 1/2\n"));
  EXPECT_THAT(ran.errors, HasSubstr("[1] e\n"));
}

TEST(RunTest, NamesTheFirstFailureAndReturnsItsStatus) {
  const ToolRun ran = RunRun({"-n", "2"}, {"sh", "-c", "[ $RANK = 1 ] && exit 7; sleep 3600"});
  EXPECT_EQ(ran.status, 7);
  EXPECT_THAT(ran.errors, HasSubstr("rank 1 exited with status 7"));
}

TEST(RunTest, ReportsAProgramThatDoesNotStart) {
  const ToolRun ran = RunRun({"-n", "2"}, {"/nowhere/ringlet-no-such"});
  EXPECT_EQ(ran.status, 127);
  EXPECT_THAT(ran.errors, HasSubstr("/nowhere/ringlet-no-such"));
}

TEST(RunTest, OnlyRankZeroReceivesTheStandardInput) {
  const InputForTest input("hello\nworld\n");
  const ToolRun ran = RunRun({"-n", "2"}, {"sh", "-c", "sed s/^/read:/; echo end"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.output, HasSubstr("[0] read:hello\n"));
  EXPECT_THAT(ran.output, HasSubstr("[0] read:world\n"));
  EXPECT_THAT(ran.output, HasSubstr("[1] end\n"));
  EXPECT_THAT(ran.output, testing::Not(HasSubstr("[1] read:")));
}

TEST(RunTest, AMissingProgramIsAUsageError) {
  EXPECT_EQ(RunRun({"-n", "2"}, {}).status, kExitUsage);
}

}  // namespace
}  // namespace ringlet::cli
