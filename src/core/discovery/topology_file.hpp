// Reads the topology file that a user names or a provider installs at NCCL's default path.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "os/fs/file_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// The path at which NVIDIA's topology daemon stores the file of a virtual machine.
/// Source  NCCL tries it if NCCL_TOPO_FILE is not set.
inline constexpr std::string_view kProvidedFile = "/var/run/nvidia-topologyd/virtualTopology.xml";

struct TopologyFile {
  std::optional<topology::HostView> view;  ///< empty: no file exists
  std::vector<std::string> findings;       ///< one line each: file, line, defect, cure
};

/// \param files  the live machine's "/"
/// \param path   of the file, absolute or from the current directory; empty: kProvidedFile, or an
///               empty result if that is missing or unreadable
/// Errors  kSystem           `path` cannot be read
///         kInvalidArgument  it is not a topology; the message names file, line and column
Result<TopologyFile> ReadTopologyFile(const os::FileTree& files, const std::string& path);

/// Reads the file of TOPO_FILE. Errors and findings name its variable. If a file of NCCL_TOPO_FILE
/// cannot be read, that is a finding, because NCCL continues without it.
/// Errors  as above
Result<TopologyFile> ReadTopologyFile(const os::FileTree& files, const Settings& settings);

}  // namespace ringlet::discovery
