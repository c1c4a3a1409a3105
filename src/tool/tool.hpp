// The tool: finds the command in the arguments and runs it.
#pragma once
#include <string>
#include <vector>

namespace ringlet::cli {

/// \param arguments  the arguments after the program's name
/// \returns the exit status. No exception escapes.
int RunTool(const std::vector<std::string>& arguments);

}  // namespace ringlet::cli
