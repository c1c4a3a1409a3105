#include "tool/text/suggest.hpp"

#include <gmock/gmock.h>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Runs a wrong command line. Returns its standard error.
std::string Refused(const std::vector<std::string>& arguments) {
  const ToolRun ran = RunCommand(arguments);
  EXPECT_EQ(ran.status, kExitUsage);
  EXPECT_EQ(ran.output, "");
  return ran.errors;
}

TEST(SuggestTest, FindsNearWords) {
  const std::vector<std::string> known = {"all_reduce", "all_gather", "broadcast", "init"};
  EXPECT_EQ(Nearest("allreduce", known), "all_reduce");
  EXPECT_EQ(Nearest("all-gahter", known), "all_gather");
  EXPECT_EQ(Nearest("broad", known), "broadcast");
  EXPECT_EQ(Nearest("int", known), "init");
}

TEST(SuggestTest, AnUnknownLetterSuggestsAUniqueLongOption) {
  const std::vector<std::string> known = {"--version", "--help", "-h", "--hosts", "-n"};
  EXPECT_EQ(Nearest("-V", known), "--version");
  EXPECT_EQ(Nearest("-x", known), "");
  EXPECT_EQ(Nearest("-H", known), "") << "two begin so";
}

TEST(SuggestTest, IgnoresFarEmptyAndEndlessWords) {
  const std::vector<std::string> known = {"all_reduce", "init"};
  EXPECT_EQ(Nearest("dance", known), "");
  EXPECT_EQ(Nearest("", known), "");
  EXPECT_EQ(Nearest(std::string(1 << 20, 'a'), known), "");
  EXPECT_EQ(DidYouMean("dance", known), "");
}

TEST(SuggestTest, SuggestsCommandsOperationsAndOptions) {
  EXPECT_THAT(Refused({"bnech"}), HasSubstr("unknown command \"bnech\"; did you mean bench?"));
  EXPECT_THAT(Refused({"bensh"}), HasSubstr("did you mean bench?"));
  EXPECT_THAT(Refused({"bench", "all_reduc"}), HasSubstr("did you mean all_reduce?"));
  EXPECT_THAT(Refused({"bench", "all_reduc", "-n", "4"}), HasSubstr("did you mean all_reduce?"));
  EXPECT_THAT(Refused({"topo", "shwo"}), HasSubstr("did you mean show?"));
  EXPECT_THAT(Refused({"bench", "all_reduce", "--max-byte", "1M"}),
              HasSubstr("unknown option \"--max-byte\"; did you mean --max-bytes?"));
  EXPECT_THAT(Refused({"bench", "all_reduce", "--max-byte=1M"}), HasSubstr("mean --max-bytes?"));
}

TEST(SuggestTest, AFormerCommandNameSuggestsTheNewOne) {
  EXPECT_THAT(Refused({"simulate", "all_reduce"}), HasSubstr("did you mean predict?"));
  EXPECT_EQ(Nearest("simulate", {"stimulate"}), "stimulate") << "where there is no predict";
}

TEST(SuggestTest, HiddenCommandsAreNotSuggested) {
  EXPECT_THAT(Refused({"bench", "bus"}), Not(HasSubstr("did you mean")));
}

TEST(SuggestTest, NamesAnUnexpectedWord) {
  EXPECT_THAT(Refused({"env", "DEBUG", "more"}),
              HasSubstr("ringlet env: \"more\" is not expected"));
}

}  // namespace
}  // namespace ringlet::cli
