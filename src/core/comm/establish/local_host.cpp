#include "comm/establish/local_host.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/settings/setting_table.hpp"
#include "discovery/fill.hpp"
#include "discovery/placement.hpp"
#include "discovery/scan.hpp"
#include "discovery/topology_file.hpp"
#include "os/fs/write_file.hpp"
#include "os/process/limits.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::comm {
namespace {

// Called before steps that may fail, to help find their cause. A failed dump is only a warning.
void DumpTopology(Process& process, const Config& config, const topology::HostView& view) {
  const Settings& settings = process.settings();
  if (settings.topo_dump_file.empty() || config.rank != settings.topo_dump_file_rank) return;
  const Status written = os::WriteFile(settings.topo_dump_file, ToXml(view));
  if (!written.ok())
    process.logger().WarnOnce(fmt::format("{}: the topology is not dumped: {}",
                                          VariableOf(settings, "TOPO_DUMP_FILE"),
                                          written.error().message));
}

// Returns the processors that the caller may run on. The system call needs no file, but its mask
// may be too small.
Result<topology::CpuSet> AllowedCpus(const Process& process) {
  const topology::CpuSet usable = topology::CpuSet::OfCpus(os::UsableCpus());
  return usable.empty() ? discovery::AllowedCpus(process.files()) : usable;
}

// Places the rank on its host: at the device that its caller named, or at the caller's cores.
LocalHost Settled(const Process& process, const Config& config, topology::HostView view) {
  const Settings& settings = process.settings();
  // If the allowed cores are unknown, all nodes are equally good.
  const auto told = AllowedCpus(process);
  const bool bound = told.ok() && settings.ignore_cpu_affinity == 0;
  const topology::CpuSet allowed = bound ? *told : topology::CpuSet();
  LocalHost local_host{.view = std::move(view)};
  if (told.ok()) local_host.allowed = *told;
  std::optional<std::uint32_t> numa;
  if (config.names_device) {
    local_host.gpu = discovery::FindGpu(local_host.view, config.device);
    if (local_host.gpu) numa = discovery::NumaOfGpu(local_host.view, *local_host.gpu, allowed);
  }
  local_host.numa = numa ? *numa
                         : discovery::NumaOf(local_host.view, allowed,
                                             settings.local_rank.value_or(config.device));
  local_host.cpus = discovery::CpusNear(local_host.view, local_host.numa, allowed);
  return local_host;
}

// Decides as far as one rank can before it knows the others.
bool NeedsNoDevices(const Settings& settings, const Config& config) {
  return config.expects_one_host && !config.names_device && settings.topo_file.empty() &&
         settings.topo_dump_file.empty() && settings.graph_file.empty() &&
         settings.graph_dump_file.empty();
}

/// An emulated host is the whole file, so the file must contain one host only.
Status CheckOneHost(const topology::HostView& view, const std::string& file) {
  for (const topology::NumaNode& node : view.numa_nodes)
    if (node.host != view.numa_nodes.front().host)
      return Error{Code::kInvalidArgument,
                   fmt::format("RINGLET_MACHINE: {} holds several hosts; name the file of one, and "
                               "give the ranks of each host a RINGLET_HOSTID of their own",
                               file)};
  return Ok();
}

// Reads the host that a file describes, in place of the actual one.
Result<LocalHost> ReadMachine(Process& process, const Config& config) {
  auto read = discovery::ReadTopologyFile(process.files(), process.settings().machine);
  if (!read.ok())
    return Error{read.error().code,
                 VariableOf(process.settings(), "MACHINE") + ": " + read.error().message};
  discovery::TopologyFile file = *std::move(read);
  RINGLET_TRY(CheckOneHost(*file.view, process.settings().machine));
  for (const std::string& finding : file.findings) process.logger().WarnOnce(finding);
  file.view->name = process.host().name;
  file.view->identity = process.facts().host_hash;
  DumpTopology(process, config, *file.view);
  Config placed = config;
  if (!placed.names_device) placed.device = process.settings().local_rank.value_or(config.device);
  placed.names_device = true;
  LocalHost local_host = Settled(process, placed, std::move(*file.view));
  local_host.cpus = {};  // the processors of the file are not here
  return local_host;
}

}  // namespace

Result<LocalHost> DiscoverLocal(Process& process, const Config& config) {
  const Settings& settings = process.settings();
  if (!settings.machine.empty()) return ReadMachine(process, config);
  if (NeedsNoDevices(settings, config)) {
    RINGLET_TRY_ASSIGN(discovery::HostScan scan, process.host_reader().Scan(false));
    LocalHost local_host = Settled(process, config, std::move(scan.view));
    local_host.knows_devices = false;
    return local_host;
  }
  RINGLET_TRY_ASSIGN(discovery::HostScan scan, process.host_reader().Scan(true));
  RINGLET_TRY_ASSIGN(const discovery::TopologyFile file,
                     discovery::ReadTopologyFile(process.files(), settings));
  for (const std::string& finding : file.findings) process.logger().WarnOnce(finding);
  if (file.view) {
    RINGLET_TRY_ASSIGN(scan.view, discovery::Fill(*file.view, scan.view));
  }
  DumpTopology(process, config, scan.view);
  return Settled(process, config, std::move(scan.view));
}

}  // namespace ringlet::comm
