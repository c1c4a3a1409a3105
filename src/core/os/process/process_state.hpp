// The state of a process of this host.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "os/fs/file_tree.hpp"

namespace ringlet::os {

/// Returns "stopped", "running", "sleeping" or "ended", also for another user's process. Empty if
/// unknown. Cost  reads a file of /proc
std::string ProcessState(const FileTree& files, std::uint32_t pid);

/// Parses the text of /proc/PID/stat.
std::string ProcessStateIn(std::string_view stat);

}  // namespace ringlet::os
