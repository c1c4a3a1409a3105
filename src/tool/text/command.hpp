// The common parts of the tool's commands.
#pragma once
#include <functional>
#include <string_view>

#include "base/settings/env_map.hpp"
#include "ringlet/status.hpp"

namespace ringlet::cli {

/// A command with parsed options. It runs the command and returns the tool's exit status.
using Action = std::function<int()>;

/// Exit statuses of the tool. `ringlet run` and `emulate` also return those of their programs.
enum ExitStatus : int {
  kExitDone = 0,
  kExitFailed = 1,         ///< also: a check found an error, or topo diff a difference
  kExitUsage = 2,          ///< the command line, a setting or an input file is invalid
  kExitCannotStart = 127,  ///< the program of `run` or `emulate` cannot be started; as in a shell
  kExitSignalled = 128,    ///< plus the number of the signal
};

/// Returns the exit status of a finished command. Reports an error as Fail does.
int ExitStatusOf(std::string_view command, const Status& done);

/// Reports an error of `command` ("bench") on standard error. Returns its exit status.
int Fail(std::string_view command, const Error& error);

/// Prints one line for the user on standard error: "ringlet bench: text".
void PrintNote(std::string_view command, std::string_view text);

/// Returns `environment` with the log sent to standard error, unless the user chose a target. The
/// tool's standard output is for results.
EnvMap WithLogOnErrors(EnvMap environment);

}  // namespace ringlet::cli
