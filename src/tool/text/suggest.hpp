// Suggestions for unknown words on a command line: "did you mean ...?".
#pragma once
#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::cli {

/// Returns the nearest of `known`; empty if none is near.
std::string Nearest(std::string_view typed, const std::vector<std::string>& known);

/// Returns "; did you mean NEAREST?" or an empty string.
std::string DidYouMean(std::string_view typed, const std::vector<std::string>& known);

/// Returns the names and aliases of the subcommands in the help.
std::vector<std::string> CommandNames(const CLI::App& command);
/// Returns the names of the options in the help, with their dashes.
std::vector<std::string> OptionNames(const CLI::App& command);

/// Returns the subcommands that the parser entered, "bench all_reduce", even if it failed.
std::string EnteredPath(const CLI::App& tool);

/// Explains the first unexpected word after a failed parse.
std::optional<std::string> ExplainUnexpected(const CLI::App& tool);

}  // namespace ringlet::cli
