// `ringlet run`: starts a program once per rank on this machine and tells each who it is.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "tool/text/command.hpp"

namespace ringlet::cli {

/// A command line of `run` or `emulate`, cut where the program begins: what follows is none of our
/// business.
struct RunArguments {
  std::vector<std::string> own;
  std::vector<std::string> program;
};

/// The program begins after "--", or with the first argument that is neither an option of ours nor
/// the value of one. \param arguments  those after "run" or "emulate"
RunArguments SplitRunArguments(const std::vector<std::string>& arguments);

/// Whether what follows the options of `command` is a program with its arguments.
bool TakesProgram(std::string_view command);

/// Adds --keep-going to `run` or `emulate`.
void AddKeepGoing(CLI::App& command, bool& keep_going);

/// Adds the command to `tool`. \param program  as SplitRunArguments found it
void AddRun(CLI::App& tool, std::vector<std::string> program, Action& chosen);

}  // namespace ringlet::cli
