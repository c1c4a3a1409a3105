// The host of this process as a view, as communicators see it.
#pragma once
#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

struct ThisHost {
  HostView view;
  std::vector<std::string> missing;  ///< a sentence for each fact that was not found
  std::string file;                  ///< the file of TOPO_FILE, if the view is from it
};

/// Scans /sys, /proc and NVIDIA's driver. Applies SOCKET_IFNAME and TOPO_FILE of the settings.
/// Errors  kInvalidArgument, kSystem  as discovery::Scan and discovery::ReadTopologyFile
Result<ThisHost> ReadThisHost(const Settings& settings);

}  // namespace ringlet::topology
