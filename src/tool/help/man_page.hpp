// Formats the command-line reference as manual pages. Pure.
#pragma once
#include <string>
#include <vector>

#include "tool/help/description.hpp"

namespace ringlet::cli {

struct ManPage {
  std::string file;  ///< "ringlet-bench.1"
  std::string text;  ///< input of troff, with the macros of man(7)
};

/// Returns ringlet.1 and one page per command, with its subcommands as sections.
std::vector<ManPage> ManPages(const CommandDescription& tool);

}  // namespace ringlet::cli
