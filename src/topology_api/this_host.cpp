#include "topology_api/this_host.hpp"

#include <utility>

#include "discovery/fill.hpp"
#include "discovery/nvml.hpp"
#include "discovery/scan.hpp"
#include "discovery/topology_file.hpp"
#include "os/fs/file_tree.hpp"
#include "os/process/host.hpp"

namespace ringlet::topology {

Result<ThisHost> ReadThisHost(const Settings& settings) {
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open("/"));
  discovery::Nvml driver;
  const os::Host host = os::ReadHost(files);
  const discovery::ScanOptions options{
      .host_name = host.name,
      .identity = HostIdentity(host.name, host.boot_id, settings.host_id),
      .interfaces = settings.socket_ifname,
      .gpus = &driver};
  RINGLET_TRY_ASSIGN(discovery::HostScan scan, discovery::Scan(files, options));
  ThisHost read{.view = std::move(scan.view), .missing = std::move(scan.missing), .file = {}};
  RINGLET_TRY_ASSIGN(discovery::TopologyFile file, discovery::ReadTopologyFile(files, settings));
  read.missing.insert(read.missing.begin(), file.findings.begin(), file.findings.end());
  if (!file.view) return read;
  RINGLET_TRY_ASSIGN(read.view, discovery::Fill(*std::move(file.view), read.view));
  read.file = settings.topo_file;
  return read;
}

}  // namespace ringlet::topology
