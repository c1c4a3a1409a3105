#include "frontends/cli/tool.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>

#include "frontends/cli/bench.hpp"
#include "frontends/cli/env.hpp"
#include "frontends/cli/explain.hpp"
#include "frontends/cli/plan.hpp"
#include "frontends/cli/run.hpp"
#include "frontends/cli/sim.hpp"
#include "frontends/cli/simulate.hpp"
#include "frontends/cli/topo.hpp"
#include "frontends/cli/version.hpp"

namespace ringlet::cli {
namespace {

// What a parser's exception means: help was asked for, or the command line is wrong.
int Explain(const CLI::App& tool, const CLI::ParseError& error, std::string_view command) {
  if (error.get_exit_code() == 0) return tool.exit(error);  // --help: prints it
  fmt::print(stderr, "ringlet{}{}: {}\nTry: ringlet{}{} --help\n", command.empty() ? "" : " ",
             command, error.what(), command.empty() ? "" : " ", command);
  return kExitUsage;
}

int ParseAndRun(const std::vector<std::string>& arguments) {
  CLI::App tool("Collective communication without a GPU", "ringlet");
  tool.require_subcommand(0, 1);  // none is refused below, after unknown options were named
  Action chosen;
  const std::string command = arguments.empty() ? "" : arguments.front();
  RunArguments split{.own = arguments, .program = {}};
  if (command == "run") {
    split = SplitRunArguments({arguments.begin() + 1, arguments.end()});
    split.own.insert(split.own.begin(), "run");
  }
  AddBench(tool, chosen);
  AddRun(tool, std::move(split.program), chosen);
  AddSim(tool, chosen);
  AddTopo(tool, chosen);
  AddPlan(tool, chosen);
  AddExplain(tool, chosen);
  AddSimulate(tool, chosen);
  AddEnv(tool, chosen);
  AddVersion(tool, chosen);
  const bool known =
      !tool.get_subcommands([&](const CLI::App* one) { return one->check_name(command); }).empty();
  if (!known && !command.empty() && !command.starts_with('-')) {
    fmt::print(stderr, "ringlet: there is no command \"{}\"\nTry: ringlet --help\n", command);
    return kExitUsage;
  }
  try {
    std::reverse(split.own.begin(), split.own.end());  // what CLI11 wants
    tool.parse(split.own);
  } catch (const CLI::ParseError& error) {
    return Explain(tool, error, known ? command : "");
  }
  if (chosen) return chosen();
  fmt::print(stderr, "ringlet: no command was given\nTry: ringlet --help\n");
  return kExitUsage;
}

}  // namespace

int RunTool(const std::vector<std::string>& arguments) {
  try {
    return ParseAndRun(arguments);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "ringlet: there is not enough memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "ringlet: {}\n", error.what());
  }
  return kExitFailed;
}

}  // namespace ringlet::cli
