#include "discovery/scan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/value/text.hpp"
#include "discovery/devices.hpp"
#include "discovery/kernel_text.hpp"
#include "discovery/pci_tree.hpp"

namespace ringlet::discovery {
namespace {

using topology::CpuSet;
using topology::HostView;
using topology::NumaNode;

constexpr std::string_view kNodes = "/sys/devices/system/node";

bool IsOfGpuClass(const PciFunction& function) {
  return function.device_class && function.device_class->role() == topology::PciRole::kGpu;
}

class Scanner {
 public:
  Scanner(const os::FileTree& files, const ScanOptions& options) : sysfs_(files, scan_.missing) {
    scan_.view.name = options.host_name.substr(0, HostView::kNameBytesMax);
    scan_.view.identity = options.identity;
  }

  Result<HostScan> Run(const ScanOptions& options) {
    const os::FileTree& files = sysfs_.files();
    const std::uint64_t shortages = files.shortages();
    RINGLET_TRY_ASSIGN(const os::NameRule rule, os::NameRule::Parse(options.interfaces));
    if (!options.devices && TakeOnlyNode(options)) return std::move(scan_);
    const Result<std::string> cpuinfo = files.Read("/proc/cpuinfo");
    if (files.shortages() != shortages) return Shortage();
    if (!cpuinfo.ok() && !files.Exists("/sys/devices/system")) {
      return Error{Code::kInvalidArgument,
                   fmt::format("{} is not the tree of a Linux machine: it has neither proc/cpuinfo "
                               "nor sys/devices/system",
                               Printable(files.root(), 255))};
    }
    if (cpuinfo.ok()) scan_.view.cpu = ParseCpuInfo(*cpuinfo);
    if (scan_.view.cpu.arch.empty())
      sysfs_.RecordMissing(cpuinfo.ok() ? "/proc/cpuinfo names no known processor"
                                        : cpuinfo.error().message);
    ReadNodes();
    if (scan_.view.numa_nodes.empty())
      scan_.view.numa_nodes.push_back(WholeHost(cpuinfo.ok() ? CountCpus(*cpuinfo) : 0));
    if (options.devices) {
      std::vector<PciFunction> functions = ListPci(sysfs_);
      const std::optional<GpuReport> gpus = ReadGpus(options.gpus, functions);
      AddDevices(sysfs_, rule, std::move(functions), gpus, scan_.view);
    }
    if (files.shortages() != shortages) return Shortage();
    RINGLET_TRY(scan_.view.Check());
    return std::move(scan_);
  }

 private:
  // A partial scan would differ from the scans of the host's other ranks.
  static Error Shortage() {
    return {Code::kSystem,
            "cannot scan this machine: out of file descriptors or memory; raise ulimit -n"};
  }

  CpuSet ParseCpus(const std::string& list, const std::string& path) {
    Result<CpuSet> cpus = CpuSet::Parse(list);
    if (!cpus.ok()) sysfs_.RecordMissing(fmt::format("{}: {}", path, cpus.error().message));
    return cpus.ok() ? *std::move(cpus) : CpuSet();
  }

  // Kernels before 2.6.25, and archives of hwloc-gather-topology, have only the mask.
  CpuSet ReadCpus(const std::string& folder) {
    const std::optional<std::string> list = sysfs_.Peek(folder + "cpulist");
    const std::optional<std::string> mask = list ? std::nullopt : sysfs_.Peek(folder + "cpumap");
    if (!mask) return ParseCpus(list ? *list : sysfs_.Read(folder + "cpulist"), folder + "cpulist");
    Result<CpuSet> cpus = CpuSet::ParseMask(*mask);
    if (!cpus.ok()) sysfs_.RecordMissing(fmt::format("{}cpumap: {}", folder, cpus.error().message));
    return cpus.ok() ? *std::move(cpus) : CpuSet();
  }

  // On a host with one node and without devices, only the node's CPUs matter: the scan omits the
  // processor's name and the memory size. Returns false if there are several nodes.
  bool TakeOnlyNode(const ScanOptions& options) {
    auto node = options.only_node ? options.only_node : ReadOnlyNode(sysfs_.files());
    if (node) scan_.view.numa_nodes.push_back(*std::move(node));
    return !scan_.view.numa_nodes.empty();
  }

  void ReadNodes() {
    const Result<std::vector<std::string>> entries = sysfs_.files().List(kNodes);
    if (!entries.ok())
      return sysfs_.RecordMissing(entries.error().message + "; the host counts as one NUMA node");
    std::vector<NumaNode>& nodes = scan_.view.numa_nodes;
    for (const std::string& entry : *entries) {
      if (!entry.starts_with("node")) continue;
      const std::optional<std::uint32_t> id = ParseKnown(std::string_view(entry).substr(4));
      if (id && nodes.size() < HostView::kNumaNodesMax) nodes.push_back(ReadNode(*id));
    }
    std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    for (NumaNode& node : nodes) {
      if (node.distances.empty() || node.distances.size() == nodes.size()) continue;
      sysfs_.RecordMissing(fmt::format("NUMA node {} has {} distances to {} nodes", node.id,
                                       node.distances.size(), nodes.size()));
      node.distances.clear();
    }
  }

  NumaNode ReadNode(std::uint32_t id) {
    const std::string folder = fmt::format("{}/node{}/", kNodes, id);
    NumaNode node;
    node.id = id;
    node.cpus = ReadCpus(folder);
    const std::optional<std::uint64_t> memory = ParseMemTotal(sysfs_.Read(folder + "meminfo"));
    if (!memory)
      sysfs_.RecordMissing(folder + "meminfo does not contain the memory size of the node");
    node.memory_bytes = memory.value_or(0);
    node.distances = ParseDistances(sysfs_.Read(folder + "distance"));
    return node;
  }

  NumaNode WholeHost(std::uint32_t cpu_count) {
    const std::string online = "/sys/devices/system/cpu/online";
    NumaNode node;
    node.cpus = ParseCpus(sysfs_.Peek(online).value_or(""), online);
    if (node.cpus.empty()) {
      sysfs_.RecordMissing("the list of CPUs is missing; their number is taken from /proc/cpuinfo");
      node.cpus = CpuSet::Of(0, std::clamp(cpu_count, 1u, CpuSet::kCpuMax) - 1);
    }
    node.memory_bytes = ParseMemTotal(sysfs_.Read("/proc/meminfo")).value_or(0);
    node.distances = {10};
    return node;
  }

  /// Returns the driver's report of GPUs, or the captured text; empty if both are missing.
  std::optional<GpuReport> ReadGpus(GpuSource* source, const std::vector<PciFunction>& functions) {
    if (source != nullptr) {
      if (!MayHaveGpus(functions)) return std::nullopt;
      Result<GpuReport> report = source->Read();
      if (report.ok()) return Take(*std::move(report));
      // A machine without NVIDIA GPUs does not miss anything.
      if (HasNvidia(functions)) sysfs_.RecordMissing(report.error().message);
      return std::nullopt;
    }
    const Result<std::string> text = sysfs_.files().Read(kGpuTextPath, kGpuTextBytesMax);
    if (!text.ok()) return std::nullopt;
    Result<GpuReport> report = ParseGpuText(*text);
    if (report.ok()) return Take(*std::move(report));
    sysfs_.RecordMissing(fmt::format("{}: {}", kGpuTextPath, report.error().message));
    return std::nullopt;
  }

  GpuReport Take(GpuReport report) {
    for (std::string& what : report.missing) sysfs_.RecordMissing(std::move(what));
    return report;
  }

  /// True if the driver may report GPUs. Loading the driver takes longer than reading these files.
  bool MayHaveGpus(const std::vector<PciFunction>& functions) const {
    return functions.empty() || std::ranges::any_of(functions, IsOfGpuClass) ||
           sysfs_.files().Exists("/dev/nvidiactl");  // GPUs outside a PCI bus
  }

  bool HasNvidia(const std::vector<PciFunction>& functions) const {
    return std::ranges::any_of(functions, [&](const PciFunction& function) {
      return IsOfGpuClass(function) &&
             sysfs_.PeekHex(function.path + "/vendor", 0xffff) == kNvidiaVendor;
    });
  }

  HostScan scan_;
  Sysfs sysfs_;
};

}  // namespace

std::optional<NumaNode> ReadOnlyNode(const os::FileTree& files) {
  const auto online = files.Read(fmt::format("{}/online", kNodes));
  const auto id = ParseKnown(online.ok() ? Trim(*online) : "");
  if (!id) return std::nullopt;  // for example "0-1"
  const auto list = files.Read(fmt::format("{}/node{}/cpulist", kNodes, *id));
  Result<CpuSet> cpus = CpuSet::Parse(list.ok() ? list->substr(0, list->find('\0')) : "");
  if (!cpus.ok() || cpus->empty()) return std::nullopt;
  NumaNode node;
  node.id = *id;
  node.cpus = *std::move(cpus);
  node.distances = {10};
  return node;
}

Result<HostScan> Scan(const os::FileTree& files, const ScanOptions& options) {
  return Scanner(files, options).Run(options);
}

}  // namespace ringlet::discovery
