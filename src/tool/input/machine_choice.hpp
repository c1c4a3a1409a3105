// The machine of `ringlet emulate --machine`: a named machine, a file, or a description.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

inline constexpr std::uint32_t kEmulatedDevicesMax = 64;

/// Returns the folder of named machines in the build tree or installation that contains `tool`.
/// \param tool         path of the running program
/// \param data_folder  relative path from the tool's folder in an installation, such as "../share"
/// \param exists       returns true if a file with this path exists
/// Errors  kUnsupported  the folder is missing
Result<std::string> FindMachineFolder(const std::string& tool, std::string_view data_folder,
                                      const std::function<bool(const std::string&)>& exists);

/// Returns the sorted names of the machines in a folder, which are its files NAME.xml.
/// Errors  kSystem  the folder cannot be read
Result<std::vector<std::string>> MachineNames(const std::string& folder);
std::string MachineFile(const std::string& folder, std::string_view name);
/// Returns the name that matches `words` in any case; "" if none does.
std::string MachineNamed(std::string_view words, const std::vector<std::string>& names);

/// A machine that can be shown to CUDA programs.
struct ChosenMachine {
  std::string title;  ///< as the user named it
  /// A view of one host. Its GPUs have a compute capability and the numbers 0, 1, ... as `dev`.
  topology::HostView view;
  /// Absolute path of the file with exactly this machine. Empty: completed, or from a description.
  std::string path;
  std::vector<std::string> notes;  ///< one sentence per assumption
};

/// Makes a machine of a view. Completes a skeleton with known GPU ids, numbers GPUs, and adds facts
/// of their models. `path` is the path of the view's file.
/// Errors  kInvalidArgument  names the machine, the missing part, and the cure
///         kUnsupported      CUDA programs cannot use the GPUs
Result<ChosenMachine> MakeChosen(topology::HostView view, std::string title, std::string path);

/// \param words   a name in the folder; else a path of a topology file, if it ends in .xml, has a
///                '/' or exists; else a description for ParseSynthetic
/// \param folder  from FindMachineFolder
/// Errors  as MakeChosen; kInvalidArgument  it is none of the three, or does not parse
///         kSystem  the file cannot be read
Result<ChosenMachine> ChooseMachine(const std::string& words, const std::string& folder);

}  // namespace ringlet::cli
