// The topology file that a user names, or that a provider has put where NCCL looks for it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "os/fs/file_tree.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::discovery {

/// The path at which NVIDIA's topology daemon leaves the file of a virtual machine.
/// Source  NCCL tries it when NCCL_TOPO_FILE is not set.
inline constexpr std::string_view kProvidedFile = "/var/run/nvidia-topologyd/virtualTopology.xml";

struct TopologyFile {
  std::optional<topology::HostView> view;  ///< empty: there is no file
  std::vector<std::string> findings;       ///< a line each: file, line, what is odd, what to do
};

/// \param files  the live machine's "/"
/// \param path   of the file, absolute or from the current directory; empty: kProvidedFile,
///               and nothing if that is not there or cannot be read
/// Errors  kSystem           `path` cannot be read
///         kInvalidArgument  it is no topology; the sentence names file, line and column
Result<TopologyFile> ReadTopologyFile(const os::FileTree& files, const std::string& path);

/// The file of TOPO_FILE, whose variable errors and findings name. A file of NCCL_TOPO_FILE that
/// cannot be read is a finding, because NCCL continues without it.
/// Errors  as above
Result<TopologyFile> ReadTopologyFile(const os::FileTree& files, const Settings& settings);

}  // namespace ringlet::discovery
