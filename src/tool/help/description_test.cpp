#include "tool/help/description.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tool/commands.hpp"
#include "tool/run/run.hpp"

namespace ringlet::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CommandDescription DescribedTool() {
  Action chosen;
  return Describe(*MakeTool({}, chosen));
}

const CommandDescription& Named(const CommandDescription& above, std::string_view name) {
  return *std::ranges::find_if(above.commands,
                               [&](const auto& one) { return LastWord(one) == name; });
}

const OptionDescription& OptionNamed(const CommandDescription& command, std::string_view name) {
  return *std::ranges::find_if(command.options, [&](const auto& option) {
    return std::ranges::count(option.names, name) > 0;
  });
}

TEST(DescriptionTest, OptionsHaveTypeRangeAndDefault) {
  const CommandDescription tool = DescribedTool();
  const CommandDescription& bench = Named(Named(tool, "bench"), "all_reduce");
  const OptionDescription& ranks = OptionNamed(bench, "--ranks");
  EXPECT_THAT(ranks.names, ElementsAre("-n", "--ranks"));
  EXPECT_EQ(ValueText(ranks), "UINT, 1 to 4096");
  EXPECT_EQ(ranks.fallback, "4");
  EXPECT_EQ(ValueText(OptionNamed(bench, "--max-bytes")), "SIZE");
  EXPECT_EQ(ValueText(OptionNamed(bench, "--check")), "");
  EXPECT_THAT(OptionNamed(bench, "--op").values, ElementsAre("sum", "prod", "max", "min", "avg"));
}

TEST(DescriptionTest, EveryTypeOfValueIsExplained) {
  std::set<std::string> known;
  for (const ValueType& type : ValueTypes()) {
    known.emplace(type.name);
    EXPECT_FALSE(type.meaning.empty() || type.example.empty()) << type.name;
  }
  std::set<std::string> used;
  Walk(DescribedTool(), [&](const CommandDescription& command) {
    for (const OptionDescription& option : command.options)
      if (option.takes_value && option.values.empty()) {
        EXPECT_EQ(known.count(option.type), 1u)
            << FullName(command) << " " << testing::PrintToString(option.names) << option.type;
        used.insert(option.type);
      }
  });
  EXPECT_EQ(known, used) << "a type that no option has";
}

TEST(DescriptionTest, TheProgramBeginsAfterTheValuesOfOptions) {
  const CommandDescription tool = DescribedTool();
  for (const char* const name : {"run", "emulate"})
    for (const OptionDescription& option : Named(tool, name).options)
      for (const std::string& word : option.names)
        EXPECT_EQ(SplitRunArguments({word, "value", "prog"}).own.size(),
                  option.takes_value ? 2u : 1u)
            << name << " " << word;
}

TEST(DescriptionTest, SharedOptionsOfSiblingsAreListedOnce) {
  const CommandDescription tool = DescribedTool();
  const CommandDescription& bench = Named(tool, "bench");
  EXPECT_EQ(OwnOptionsOf(bench, 0).like, nullptr);
  EXPECT_EQ(SharedText(OwnOptionsOf(bench, 0)), "");
  const OwnOptions all_gather = OwnOptionsOf(bench, 1);
  EXPECT_EQ(all_gather.like, bench.commands.data());
  EXPECT_THAT(all_gather.own, IsEmpty());
  EXPECT_THAT(all_gather.lacking, ElementsAre("--op"));
  EXPECT_EQ(SharedText(all_gather),
            "Takes the options of `ringlet bench all_reduce` without --op.");
}

TEST(DescriptionTest, SynopsesNameArgumentsCommandsAndPrograms) {
  const CommandDescription tool = DescribedTool();
  EXPECT_EQ(SynopsisOf(tool), "ringlet [OPTIONS] COMMAND");
  const CommandDescription& topo = Named(tool, "topo");
  EXPECT_EQ(SynopsisOf(Named(topo, "show")), "ringlet topo show [OPTIONS] [FILE]");
  EXPECT_EQ(SynopsisOf(Named(topo, "fuse")), "ringlet topo fuse [OPTIONS] FILE...");
  EXPECT_EQ(SynopsisOf(Named(tool, "run")), "ringlet run [OPTIONS] [--] PROGRAM [ARGUMENTS...]");
}

TEST(DescriptionTest, SeparatesRemarksFromExamples) {
  const CommandDescription tool = DescribedTool();
  const CommandDescription& run = Named(tool, "run");
  EXPECT_THAT(run.remarks, testing::StartsWith("The program and its arguments"));
  EXPECT_THAT(run.examples, testing::Contains("ringlet run -n 4 ./program"));
  EXPECT_EQ(Named(tool, "env").remarks, "");
}

}  // namespace
}  // namespace ringlet::cli
