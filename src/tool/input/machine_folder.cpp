#include "tool/input/machine_folder.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "tool/input/machine_choice.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/text/suggest.hpp"
#include "topology/xml/xml_reader.hpp"

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

Result<std::string> ReadMachineText(const std::string& words) {
  const Result<std::string> folder = MachineFolder();
  const auto names = folder.ok() ? MachineNames(*folder) : folder.error();
  const std::string name = names.ok() ? MachineNamed(words, *names) : "";
  Result<std::string> text =
      ReadUserFile(name.empty() ? words : MachineFile(*folder, name), topology::kXmlBytesMax);
  const bool may_be_name = names.ok() && words.find('/') == std::string::npos;
  if (text.ok() || IsThere(words) || words == "-" || !may_be_name) return text;
  Error error = std::move(text).error();
  error.message += fmt::format("; nor is it a machine of ringlet emulate --list-machines{}",
                               DidYouMean(words, *names));
  return error;
}

}  // namespace ringlet::cli
