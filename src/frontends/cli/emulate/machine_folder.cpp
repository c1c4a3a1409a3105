#include "frontends/cli/emulate/machine_folder.hpp"

#include <filesystem>
#include <system_error>

#include "frontends/cli/emulate/machine_choice.hpp"

namespace ringlet::cli {

Result<std::string> ToolPath() {
  std::error_code wrong;
  const auto tool = std::filesystem::read_symlink("/proc/self/exe", wrong);
  if (wrong)
    return Error{Code::kSystem, "cannot read /proc/self/exe: " + wrong.message(), wrong.value()};
  return tool.string();
}

bool IsThere(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Result<std::string> MachineFolder() {
  RINGLET_TRY_ASSIGN(const std::string tool, ToolPath());
  return FindMachineFolder(tool, RINGLET_DATA_FOLDER, IsThere);
}

}  // namespace ringlet::cli
