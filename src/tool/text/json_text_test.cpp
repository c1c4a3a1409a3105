#include "tool/text/json_text.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/value/text.hpp"
#include "comm/establish/ranks_for_test.hpp"
#include "tool/commands.hpp"
#include "tool/emulate/traffic_for_test.hpp"
#include "tool/help/description.hpp"
#include "tool/tool_run_for_test.hpp"
#include "watch/traces_for_test.hpp"

namespace ringlet::cli {
namespace {

using nlohmann::ordered_json;

TEST(JsonTextTest, LinesAndIndentedTextsEndWithANewline) {
  const ordered_json json{{"b", 1}, {"a", {2}}};
  EXPECT_EQ(JsonText(json, JsonLayout::kLine), "{\"b\":1,\"a\":[2]}\n");
  EXPECT_EQ(JsonText(json), "{\n  \"b\": 1,\n  \"a\": [\n    2\n  ]\n}\n");
}

TEST(JsonTextTest, ReplacesBytesThatAreNotUtf8) {
  EXPECT_TRUE(ordered_json::accept(JsonText({{"name", "\xff\xfe"}})));
}

/// The path of a command, with arguments that make it fast enough for a unit test.
struct JsonCommand {
  std::string path;
  std::vector<std::string> words;
};

std::string TarFile() {
  return testing::TempDir() + "json_text_test.tar";
}

/// Creates a folder with the files of two ranks.
std::string TrafficFolder() {
  const std::string folder = testing::TempDir() + "json_text_test_traffic";
  std::filesystem::create_directories(folder);
  for (const auto& [path, file] : TrafficForTest())
    std::ofstream(folder + "/" + std::filesystem::path(path).filename().string())
        << TextForTest(file);
  return folder;
}

std::string TraceFile() {
  const std::string file = testing::TempDir() + "json_text_test_trace.json";
  std::ofstream(file) << ToJson(watch::TraceForTest(0, 1, 2));
  return file;
}

std::vector<JsonCommand> JsonCommands() {
  const std::string file = Fixture("topo-vectors/gpu2-nic2.xml");
  return {{" bench barrier", {"-n", "2", "--threads", "-i", "1"}},
          {" bench init", {"-n", "2", "-i", "1"}},
          {" bench reform", {"-n", "2", "-i", "1"}},
          {" traffic", {TrafficFolder()}},
          {" status", {std::to_string(::getpid())}},
          {" trace", {TraceFile()}},
          {" sim init", {"-n", "4"}},
          {" sim reform", {"-n", "4"}},
          {" topo show", {file}},
          {" topo gather", {"-o", TarFile()}},
          {" topo path", {"GPU0", "GPU1", file}},
          {" topo matrix", {file}},
          {" topo lint", {file}},
          // prints one line per finding; this file has one
          {" topo check", {Fixture("topologies/nvidia/gcp_a3_h100.topo.xml")}},
          {" topo diff", {file, file}},
          {" topo complete", {"--list"}},
          {" emulate", {"--list-machines"}},
          {" plan", {file}},
          {" plan", {"--ranks", "2"}},
          {" explain", {file}},
          {" predict", {"all_reduce", file}},
          {" env", {}},
          {" version", {}}};
}

/// Returns the arguments for each command with --json, except the operations of bench and explain.
std::vector<std::vector<std::string>> WordsOfJson(const CommandDescription& command) {
  const auto run = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all;
    for (const std::string_view word : Split(std::string_view(command.path).substr(1), ' '))
      all.emplace_back(word);
    all.insert(all.end(), words.begin(), words.end());
    all.emplace_back("--json");
    return all;
  };
  std::vector<std::vector<std::string>> found;
  for (const JsonCommand& one : JsonCommands())
    if (one.path == command.path) found.push_back(run(one.words));
  if (!found.empty()) return found;
  if (command.path.starts_with(" bench "))
    return {run({"-n", "2", "--threads", "-e", "8", "-i", "1"})};
  if (command.path.starts_with(" explain ")) return {run({}), run({"--hosts", "2"})};
  return {};
}

/// Checks the keys at any depth.
void ExpectSnakeCase(const ordered_json& json, const std::string& where) {
  for (const auto& item : json.items()) {
    if (json.is_object()) {
      EXPECT_THAT(item.key(), testing::MatchesRegex("[a-z][a-z0-9_]*")) << where;
    }
    if (item.value().is_structured()) ExpectSnakeCase(item.value(), where + "." + item.key());
  }
}

TEST(JsonTextTest, EachCommandPrintsOneJsonTextWithSnakeCaseKeys) {
  const auto process = comm::ProcessWith({});  // answers `status`
  Action chosen;
  std::size_t commands = 0;
  Walk(Describe(*MakeTool({}, chosen)), [&](const CommandDescription& command) {
    const bool has_json = std::ranges::any_of(command.options, [](const OptionDescription& option) {
      return std::ranges::count(option.names, "--json") > 0;
    });
    // The output of `ras` has the keys of a server; see watch/ras/ras_report_test.cpp.
    if (!has_json || command.path == " ras") return;
    // `doctor` depends on other processes and prints a line per check; see doctor_report_test.cpp.
    if (!has_json || command.path == " doctor") return;
    ++commands;
    const auto lines = WordsOfJson(command);
    EXPECT_FALSE(lines.empty()) << "no line for" << command.path;
    for (const std::vector<std::string>& words : lines) {
      const ToolRun ran = RunCommand(words);
      SCOPED_TRACE(command.path);
      EXPECT_TRUE(ran.status == kExitDone || command.path == " topo lint") << ran.errors;
      ASSERT_TRUE(ordered_json::accept(ran.output)) << ran.output;
      ExpectSnakeCase(ordered_json::parse(ran.output), command.path);
    }
  });
  EXPECT_GT(commands, JsonCommands().size());
  std::filesystem::remove(TarFile());
  std::filesystem::remove_all(TrafficFolder());
  std::filesystem::remove(TraceFile());
}

/// Expects that the help lists the keys.
void ExpectKeysInHelp(const CLI::App& command) {
  const CLI::Option* const json = command.get_option_no_throw("--json");
  if (json != nullptr) {
    EXPECT_THAT(json->get_description(), testing::ContainsRegex("[Oo]bjects?[^:]*: ."))
        << command.get_name();
  }
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    ExpectKeysInHelp(*below);
}

TEST(JsonTextTest, HelpNamesTheJsonKeys) {
  Action chosen;
  ExpectKeysInHelp(*MakeTool({}, chosen));
}

}  // namespace
}  // namespace ringlet::cli
