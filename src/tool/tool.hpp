// The tool: finds out which command is meant, and runs it.
#pragma once
#include <string>
#include <vector>

namespace ringlet::cli {

/// \param arguments  those after the program's name
/// \returns the exit status. Nothing escapes as an exception.
int RunTool(const std::vector<std::string>& arguments);

}  // namespace ringlet::cli
