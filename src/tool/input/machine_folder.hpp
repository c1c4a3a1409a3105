// The folder of the named machines, found from where this program is.
#pragma once
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::cli {

/// The path of this program: that of an installation or a build tree.
/// Errors  kSystem  /proc is not there
Result<std::string> ToolPath();

bool IsThere(const std::string& path);

/// Errors  those of ToolPath and FindMachineFolder
Result<std::string> MachineFolder();

/// The text of a topology file, as ReadUserFile reads it, or of a named machine in any case of its
/// letters.
/// Errors  as ReadUserFile; a file that is not there is told with the machine of the nearest name
Result<std::string> ReadMachineText(const std::string& words);

}  // namespace ringlet::cli
