// The machine that `ringlet emulate --machine` names: one of the folder, a file, or a description.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

inline constexpr std::uint32_t kEmulatedDevicesMax = 64;

/// The folder of the named machines of the build tree or installation to which `tool` belongs.
/// \param tool         path of the running program
/// \param data_folder  of an installation, from the folder of the tool, such as "../share"
/// \param exists       whether there is a file of this path
/// Errors  kUnsupported  there is none
Result<std::string> FindMachineFolder(const std::string& tool, std::string_view data_folder,
                                      const std::function<bool(const std::string&)>& exists);

/// The names of the machines of a folder, in order: its files NAME.xml.
/// Errors  kSystem  it cannot be read
Result<std::vector<std::string>> MachineNames(const std::string& folder);
std::string MachineFile(const std::string& folder, std::string_view name);
/// The one of `names` that `words` is, in any case of its letters; "" if it is none.
std::string MachineNamed(std::string_view words, const std::vector<std::string>& names);

/// A machine that CUDA programs can be shown.
struct ChosenMachine {
  std::string title;  ///< as the user named it
  /// Of one host. Its GPUs have a compute capability, and the numbers 0, 1, ... as `dev`.
  topology::HostView view;
  /// The absolute path of the file that says just this; empty: no file does, since parts had to be
  /// completed, or it was a description.
  std::string path;
  std::vector<std::string> notes;  ///< a sentence for each thing that was assumed
};

/// Makes a machine of a view, or says why it is none: completes a skeleton whose GPUs are known by
/// their ids, numbers GPUs, and fills in what their models say. `path` is that of the view's file.
/// Errors  kInvalidArgument  names the machine, the part that is missing, and the cure
///         kUnsupported      GPUs that CUDA programs cannot use
Result<ChosenMachine> MakeChosen(topology::HostView view, std::string title, std::string path);

/// \param words   a name of the folder; else the path of a topology file, if it ends in .xml, has a
///                '/' or is there; else a description of ParseSynthetic
/// \param folder  of FindMachineFolder
/// Errors  those of MakeChosen; kInvalidArgument  it is none of the three, or does not parse
///         kSystem  the file cannot be read
Result<ChosenMachine> ChooseMachine(const std::string& words, const std::string& folder);

}  // namespace ringlet::cli
