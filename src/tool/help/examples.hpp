// The examples at the end of each help text.
#pragma once
#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ringlet::cli {

/// Returns command lines for the command at a path such as "bench all_reduce"; "" is the tool.
std::vector<std::string> ExamplesOf(std::string_view path);

/// Inserts the examples of `tool` and its subcommands before the rest of their footers.
void AddExamples(CLI::App& tool);

}  // namespace ringlet::cli
