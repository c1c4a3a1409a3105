// The common parts of the tool's commands.
#pragma once
#include <functional>
#include <string_view>

#include "base/settings/env_map.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

/// A command with its options read: does the work and gives the exit status of the tool.
using Action = std::function<int()>;

/// All exit statuses of the tool, but those of the programs that `ringlet run` and `emulate` start.
enum ExitStatus : int {
  kExitDone = 0,
  kExitFailed = 1,         ///< also: a check found an error, or topo diff a difference
  kExitUsage = 2,          ///< the command line, a setting or an input file is invalid
  kExitCannotStart = 127,  ///< the program of `run` or `emulate`; as a shell says it
  kExitSignalled = 128,    ///< and the number of the signal
};

/// Of a command that is done: tells of the error, if there is one, as Fail does.
int ExitStatusOf(std::string_view command, const Status& done);

/// Says on standard error what went wrong in `command` ("bench") and gives the exit status for it.
int Fail(std::string_view command, const Error& error);

/// One line for the user on standard error: "ringlet bench: text".
void Tell(std::string_view command, std::string_view text);

/// `environment` with the log on standard error, unless it says where the log goes: the tool's
/// standard output is for results.
EnvMap WithLogOnErrors(EnvMap environment);

}  // namespace ringlet::cli
