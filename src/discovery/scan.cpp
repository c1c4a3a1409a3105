#include "discovery/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "discovery/kernel_text.hpp"

namespace ringlet::discovery {
namespace {

using topology::CpuSet;
using topology::HostView;
using topology::NetInterface;
using topology::NumaNode;

constexpr std::string_view kNodes = "/sys/devices/system/node";
constexpr std::string_view kNets = "/sys/class/net";
constexpr std::size_t kSmallFileBytesMax = 64 * 1024;

class Scanner {
 public:
  Scanner(const os::FileTree& files, const ScanOptions& options) : files_(files) {
    scan_.view.name = options.host_name.substr(0, HostView::kNameBytesMax);
    scan_.view.identity = options.identity;
  }

  Result<HostScan> Run() {
    const Result<std::string> cpuinfo = files_.Read("/proc/cpuinfo");
    if (!cpuinfo.ok() && !files_.Exists("/sys/devices/system")) {
      return Error{Code::kInvalidArgument,
                   fmt::format("{} is not the tree of a Linux machine: it has neither proc/cpuinfo "
                               "nor sys/devices/system",
                               Printable(files_.root(), 255))};
    }
    if (cpuinfo.ok()) scan_.view.cpu = ParseCpuInfo(*cpuinfo);
    if (scan_.view.cpu.arch.empty())
      Miss(cpuinfo.ok() ? "/proc/cpuinfo names no known processor" : cpuinfo.error().message);
    ReadNodes();
    if (scan_.view.numa_nodes.empty())
      scan_.view.numa_nodes.push_back(WholeHost(cpuinfo.ok() ? CountCpus(*cpuinfo) : 0));
    ReadNets();
    RINGLET_TRY(scan_.view.Check());
    return std::move(scan_);
  }

 private:
  void Miss(std::string what) { scan_.missing.push_back(std::move(what)); }

  /// A small file, trimmed; empty where there is none.
  std::optional<std::string> Peek(const std::string& path) const {
    const Result<std::string> content = files_.Read(path, kSmallFileBytesMax);
    if (!content.ok()) return std::nullopt;
    return std::string(Trim(*content));
  }

  /// The same, but its absence is told.
  std::string Read(const std::string& path) {
    Result<std::string> content = files_.Read(path, kSmallFileBytesMax);
    if (!content.ok()) Miss(content.error().message);
    return content.ok() ? std::string(Trim(*content)) : "";
  }

  CpuSet ParseCpus(const std::string& list, const std::string& path) {
    Result<CpuSet> cpus = CpuSet::Parse(list);
    if (!cpus.ok()) Miss(fmt::format("{}: {}", path, cpus.error().message));
    return cpus.ok() ? *std::move(cpus) : CpuSet();
  }

  void ReadNodes() {
    const Result<std::vector<std::string>> entries = files_.List(kNodes);
    if (!entries.ok()) return Miss(entries.error().message + "; the host counts as one NUMA node");
    std::vector<NumaNode>& nodes = scan_.view.numa_nodes;
    for (const std::string& entry : *entries) {
      if (!entry.starts_with("node")) continue;
      const std::optional<std::uint32_t> id = ParseKnown(std::string_view(entry).substr(4));
      if (id && nodes.size() < HostView::kNumaNodesMax) nodes.push_back(ReadNode(*id));
    }
    std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    for (NumaNode& node : nodes) {
      if (node.distances.empty() || node.distances.size() == nodes.size()) continue;
      Miss(fmt::format("NUMA node {} has {} distances to {} nodes", node.id, node.distances.size(),
                       nodes.size()));
      node.distances.clear();
    }
  }

  NumaNode ReadNode(std::uint32_t id) {
    const std::string folder = fmt::format("{}/node{}/", kNodes, id);
    NumaNode node;
    node.id = id;
    node.cpus = ParseCpus(Read(folder + "cpulist"), folder + "cpulist");
    const std::optional<std::uint64_t> memory = ParseMemTotal(Read(folder + "meminfo"));
    if (!memory) Miss(folder + "meminfo does not tell how much memory the node has");
    node.memory_bytes = memory.value_or(0);
    node.distances = ParseDistances(Read(folder + "distance"));
    return node;
  }

  NumaNode WholeHost(std::uint32_t cpu_count) {
    const std::string online = "/sys/devices/system/cpu/online";
    NumaNode node;
    node.cpus = ParseCpus(Peek(online).value_or(""), online);
    if (node.cpus.empty()) {
      Miss("no list of CPUs; their number is taken from /proc/cpuinfo");
      node.cpus = CpuSet::Of(0, std::clamp(cpu_count, 1u, CpuSet::kCpuMax) - 1);
    }
    node.memory_bytes = ParseMemTotal(Read("/proc/meminfo")).value_or(0);
    node.distances = {10};
    return node;
  }

  static bool IsLocalName(std::string_view name) {
    constexpr std::array<std::string_view, 4> kPrefixes = {"docker", "veth", "virbr", "br-"};
    return name == "lo" || std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                       [&](std::string_view p) { return name.starts_with(p); });
  }

  bool IsUp(const std::string& name) const {
    const std::string state = Peek(fmt::format("{}/{}/operstate", kNets, name)).value_or("unknown");
    return state == "up" || state == "unknown";  // many virtual drivers never say up
  }

  void ReadNets() {
    const Result<std::vector<std::string>> entries = files_.List(kNets);
    if (!entries.ok()) return Miss(entries.error().message + "; no network interfaces are known");
    std::vector<std::string> physical, up;
    for (const std::string& name : *entries) {
      const std::string folder = fmt::format("{}/{}", kNets, name);
      if (!files_.Exists(folder + "/.") || name.size() > HostView::kNameBytesMax) continue;
      if (files_.Exists(folder + "/device")) physical.push_back(name);
      if (!IsLocalName(name) && IsUp(name)) up.push_back(name);
    }
    std::vector<std::string>& chosen = physical.empty() ? up : physical;
    if (chosen.empty()) Miss(fmt::format("{} has no network interface to other hosts", kNets));
    if (chosen.size() > HostView::kNetsMax) {
      Miss(fmt::format("only {} of {} network interfaces are kept", HostView::kNetsMax,
                       chosen.size()));
      chosen.resize(HostView::kNetsMax);
    }
    for (const std::string& name : chosen) scan_.view.nets.push_back(ReadNet(name));
  }

  NetInterface ReadNet(const std::string& name) {
    const std::string folder = fmt::format("{}/{}/", kNets, name);
    NetInterface net;
    net.name = name;
    // The kernel refuses to read the speed of an interface that is down, and says -1 or 0 of some.
    net.speed_mbit_per_s = ParseKnown(Peek(folder + "speed").value_or(""));
    if (net.speed_mbit_per_s == 0u) net.speed_mbit_per_s.reset();
    if (!net.speed_mbit_per_s) Miss(fmt::format("{}speed does not tell", folder));
    net.numa = ParseKnown(Peek(folder + "device/numa_node").value_or(""));
    const std::vector<NumaNode>& nodes = scan_.view.numa_nodes;
    if (std::none_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n.id == net.numa; }))
      net.numa.reset();
    return net;
  }

  const os::FileTree& files_;
  HostScan scan_;
};

}  // namespace

Result<HostScan> Scan(const os::FileTree& files, const ScanOptions& options) {
  return Scanner(files, options).Run();
}

}  // namespace ringlet::discovery
