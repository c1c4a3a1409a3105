// Formats the command-line reference as Markdown. Pure.
#pragma once
#include <string>

#include "tool/help/description.hpp"

namespace ringlet::cli {

/// Returns the contents of docs/reference/cli.md.
std::string CliMarkdown(const CommandDescription& tool);

}  // namespace ringlet::cli
