// The reference of the command line as a page of Markdown. Pure.
#pragma once
#include <string>

#include "tool/help/description.hpp"

namespace ringlet::cli {

/// The contents of docs/reference/cli.md.
std::string CliMarkdown(const CommandDescription& tool);

}  // namespace ringlet::cli
