// `ringlet run`: starts a program once per rank on this machine, with the rank in its environment.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// A command line of `run` or `emulate`, split into the tool's arguments and the program's.
struct RunArguments {
  std::vector<std::string> own;
  std::vector<std::string> program;
};

/// Splits at "--", or at the first argument that is neither an option nor the value of one.
/// \param arguments  the arguments after "run" or "emulate"
RunArguments SplitRunArguments(const std::vector<std::string>& arguments);

/// Returns true if a program with its arguments follows the options of `command`.
bool AcceptsProgram(std::string_view command);

/// Adds --keep-going to `run` or `emulate`.
void AddKeepGoing(CLI::App& command, bool& keep_going);

/// Adds the command to `tool`. \param program  from SplitRunArguments
void AddRun(CLI::App& tool, std::vector<std::string> program, Action& chosen);

}  // namespace ringlet::cli
