#include "tool/help/exit_status.hpp"

#include <fmt/format.h>

#include "tool/text/command.hpp"

namespace ringlet::cli {

std::vector<std::pair<std::string, std::string>> ExitStatusMeanings() {
  const auto number = [](ExitStatus status) { return std::to_string(status); };
  return {
      {number(kExitDone), "the command succeeded"},
      {number(kExitFailed),
       "the command failed, a check found an error, or topo diff a difference"},
      {number(kExitUsage),
       "the command line, a setting or an input file is invalid, or a file is missing"},
      {"N", "run: the first rank that failed exited with N; emulate: the program did"},
      {number(kExitCannotStart), "run, emulate: the program cannot be started"},
      {number(kExitSignalled) + "+N", "run, bench: signal N ended a rank or the command"},
  };
}

}  // namespace ringlet::cli
