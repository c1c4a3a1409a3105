#include "frontends/cli/json_text.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "frontends/cli/help/commands.hpp"
#include "frontends/cli/tool_run_for_test.hpp"

namespace ringlet::cli {
namespace {

using nlohmann::ordered_json;

TEST(JsonTextTest, LinesAndIndentedTextsEndWithANewline) {
  const ordered_json json{{"b", 1}, {"a", {2}}};
  EXPECT_EQ(JsonText(json, JsonLayout::kLine), "{\"b\":1,\"a\":[2]}\n");
  EXPECT_EQ(JsonText(json), "{\n  \"b\": 1,\n  \"a\": [\n    2\n  ]\n}\n");
}

TEST(JsonTextTest, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_TRUE(ordered_json::accept(JsonText({{"name", "\xff\xfe"}})));
}

/// Each command that a machine may read, quick enough for a unit test.
std::vector<std::vector<std::string>> JsonCommands() {
  const std::string file = Fixture("topo-vectors/gpu2-nic2.xml");
  return {{"bench", "all_reduce", "-n", "2", "--threads", "-e", "8", "-i", "1"},
          {"bench", "init", "-n", "2", "-i", "1"},
          {"sim", "init", "-n", "4"},
          {"topo", "show", file},
          {"topo", "path", "GPU0", "GPU1", file},
          {"topo", "matrix", file},
          {"topo", "lint", file},
          {"topo", "diff", file, file},
          {"topo", "complete", "--list"},
          {"plan", file},
          {"plan", "--ranks", "2"},
          {"explain", file},
          {"predict", "all_reduce", file},
          {"env"},
          {"version"}};
}

TEST(JsonTextTest, CommandsPrintOneJsonText) {
  for (std::vector<std::string> command : JsonCommands()) {
    command.emplace_back("--json");
    const ToolRun ran = RunCommand(command);
    SCOPED_TRACE(command.at(0) + " " + command.at(1));
    EXPECT_TRUE(ran.status == kExitDone || command.at(1) == "lint") << ran.errors;
    EXPECT_TRUE(ordered_json::accept(ran.output)) << ran.output;
  }
}

/// The help names the keys.
void ExpectKeysInHelp(const CLI::App& command) {
  const CLI::Option* const json = command.get_option_no_throw("--json");
  if (json != nullptr) {
    EXPECT_THAT(json->get_description(), testing::ContainsRegex("objects?( for .*)?: ."))
        << command.get_name();
  }
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    ExpectKeysInHelp(*below);
}

TEST(JsonTextTest, HelpSaysWhatJsonHas) {
  Action chosen;
  ExpectKeysInHelp(*MakeTool({}, chosen));
}

}  // namespace
}  // namespace ringlet::cli
