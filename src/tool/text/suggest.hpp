// The answer to words on a command line that are unknown: "did you mean ...?".
#pragma once
#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::cli {

/// The one of `known` that was probably meant; empty where none is near.
std::string Nearest(std::string_view typed, const std::vector<std::string>& known);

/// "; did you mean NEAREST?", or nothing.
std::string DidYouMean(std::string_view typed, const std::vector<std::string>& known);

/// Names of subcommands that the help shows, and their aliases.
std::vector<std::string> CommandNames(const CLI::App& command);
/// Names of options that the help shows, with their dashes.
std::vector<std::string> OptionNames(const CLI::App& command);

/// "bench all_reduce": the subcommands that a parse has entered, also one that failed.
std::string EnteredPath(const CLI::App& tool);

/// After a failed parse: a sentence about the first word that no command expected.
std::optional<std::string> ExplainUnexpected(const CLI::App& tool);

}  // namespace ringlet::cli
