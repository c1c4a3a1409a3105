#include "tool/tool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>

#include "tool/commands.hpp"
#include "tool/run/run.hpp"
#include "tool/text/suggest.hpp"

namespace ringlet::cli {
namespace {

/// Explains a command line that ends before the required subcommand.
std::optional<std::string> ExplainMissing(const CLI::App& tool) {
  const CLI::App* last = &tool;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  if (last->get_require_subcommand_min() == 0) return std::nullopt;
  return fmt::format("name a command: {}", fmt::join(CommandNames(*last), ", "));
}

// Handles an exception of the parser: a request for help, or a wrong command line.
int Explain(const CLI::App& tool, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return tool.exit(error);  // prints --help or --version
  const std::string path = EnteredPath(tool);
  const std::string command = path.empty() ? "ringlet" : "ringlet " + path;
  auto reason = ExplainUnexpected(tool);
  if (!reason) reason = ExplainMissing(tool);
  fmt::print(stderr, "{}: {}\nTry: {} --help\n", command, reason.value_or(error.what()), command);
  return kExitUsage;
}

int ParseAndRun(const std::vector<std::string>& arguments) {
  Action chosen;
  RunArguments split{.own = arguments, .program = {}};
  if (!arguments.empty() && AcceptsProgram(arguments.front())) {
    split = SplitRunArguments({arguments.begin() + 1, arguments.end()});
    split.own.insert(split.own.begin(), arguments.front());
  }
  const std::unique_ptr<CLI::App> tool = MakeTool(std::move(split.program), chosen);
  try {
    std::reverse(split.own.begin(), split.own.end());  // CLI11 expects the arguments in reverse
    tool->parse(split.own);
  } catch (const CLI::ParseError& error) {
    return Explain(*tool, error);
  }
  if (chosen) return chosen();
  fmt::print(stderr, "ringlet: no command was given\nTry: ringlet --help\n");
  return kExitUsage;
}

/// Fails the command if its output cannot be written.
int CheckOutput(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  fmt::print(stderr, "ringlet: cannot write standard output: {}\n",
             std::generic_category().message(errno));
  return status == kExitDone ? kExitFailed : status;
}

}  // namespace

int RunTool(const std::vector<std::string>& arguments) {
  try {
    return CheckOutput(ParseAndRun(arguments));
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "ringlet: out of memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "ringlet: {}\n", error.what());
  }
  return kExitFailed;
}

}  // namespace ringlet::cli
