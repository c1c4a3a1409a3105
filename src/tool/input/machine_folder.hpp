// The folder of named machines. It is found from the path of this program.
#pragma once
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::cli {

/// Returns the path of this program, in an installation or a build tree.
/// Errors  kSystem  /proc is missing
Result<std::string> ToolPath();

bool IsThere(const std::string& path);

/// Errors  as ToolPath and FindMachineFolder
Result<std::string> MachineFolder();

/// Reads a topology file, as ReadUserFile does, or a named machine. Ignores the case of the name.
/// Errors  as ReadUserFile; for a missing file the message has the machine with the nearest name
Result<std::string> ReadMachineText(const std::string& words);

}  // namespace ringlet::cli
