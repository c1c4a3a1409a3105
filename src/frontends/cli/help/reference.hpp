// The reference of the command line as a page of Markdown. Pure.
#pragma once
#include <string>

#include "frontends/cli/help/description.hpp"

namespace ringlet::cli {

/// What docs/reference/cli.md holds.
std::string CliMarkdown(const CommandDescription& tool);

}  // namespace ringlet::cli
