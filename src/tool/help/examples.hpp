// The examples at the end of each help.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ringlet::cli {

/// Whole command lines for the command of this path: "bench all_reduce"; "" is the tool.
std::vector<std::string> ExamplesOf(std::string_view path);

/// Puts the examples of `tool` and of each command below it before what its help ends with.
void AddExamples(CLI::App& tool);

}  // namespace ringlet::cli
