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

}  // namespace ringlet::cli
