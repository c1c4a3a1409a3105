// The state of a process of this host.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "os/fs/file_tree.hpp"

namespace ringlet::os {

/// "stopped", "running", "sleeping", "ended": of the process, which may be another user's; empty:
/// unknown. Cost  a file of /proc is read
std::string ProcessState(const FileTree& files, std::uint32_t pid);

/// The same in the text of /proc/PID/stat.
std::string ProcessStateIn(std::string_view stat);

}  // namespace ringlet::os
