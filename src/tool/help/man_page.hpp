// The reference of the command line as manual pages. Pure.
#pragma once
#include <string>
#include <vector>

#include "tool/help/description.hpp"

namespace ringlet::cli {

struct ManPage {
  std::string file;  ///< "ringlet-bench.1"
  std::string text;  ///< for troff, with the macros of man(7)
};

/// ringlet.1, and one page for each command, with the commands below it as sections.
std::vector<ManPage> ManPages(const CommandDescription& tool);

}  // namespace ringlet::cli
