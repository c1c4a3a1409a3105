// Runs system programs that write formats which the tool does not write itself.
#pragma once
#include <string>
#include <vector>

namespace ringlet::cli {

/// Runs a program. Returns true if it exits with 0 within a minute.
bool RunHelper(std::vector<std::string> arguments);

}  // namespace ringlet::cli
