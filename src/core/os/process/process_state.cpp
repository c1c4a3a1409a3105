#include "os/process/process_state.hpp"

#include <fmt/format.h>

namespace ringlet::os {

std::string ProcessState(const FileTree& files, std::uint32_t pid) {
  const auto stat = files.Read(fmt::format("/proc/{}/stat", pid));
  return stat.ok() ? ProcessStateIn(*stat) : "ended";
}

std::string ProcessStateIn(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return "";
  switch (stat[name_end + 2]) {
    case 'R': return "running";
    case 'S':
    case 'D':
    case 'I': return "sleeping";
    case 'T':
    case 't': return "stopped";
    case 'Z':
    case 'X': return "ended";
    default: return "";
  }
}

}  // namespace ringlet::os
