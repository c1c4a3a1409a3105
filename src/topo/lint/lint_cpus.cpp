// Rules about NUMA nodes: processors, affinity, and their children.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/value/text.hpp"
#include "topo/lint/lint_context.hpp"

namespace ringlet::topology {
namespace {

constexpr std::array<std::string_view, 3> kArchs = {"x86_64", "ppc64", "arm64"};
constexpr std::array<std::string_view, 4> kVendors = {"GenuineIntel", "AuthenticAMD",
                                                      "CentaurHauls", "  Shanghai  "};
constexpr std::size_t kMaskBytesShown = 40;

template <std::size_t kCount>
bool IsOneOf(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void LintModel(LintContext& context, std::uint32_t index) {
  const CpuModel& cpu = context.view().ModelOf(context.view().numa_nodes[index]);
  const Part part{PartKind::kNuma, index};
  if (cpu.arch.empty())
    return context.AddFinding(
        Severity::kError, "missing-arch", part, "",
        "arch is missing; NCCL stops with \"Attribute arch of node cpu not found\"",
        "write arch=\"x86_64\" (or arm64), and on x86 vendor, familyid and modelid");
  if (!IsOneOf(kArchs, cpu.arch))
    return context.AddFinding(
        Severity::kWarning, "unknown-arch", part, "arch",
        fmt::format("NCCL does not know the arch \"{}\" and treats the path between "
                    "NUMA nodes as unlimited",
                    Printable(cpu.arch, kMaskBytesShown)),
        "write x86_64, arm64 or ppc64");
  if (cpu.arch != "x86_64") return;
  if (cpu.vendor.empty())
    return context.AddFinding(Severity::kError, "missing-vendor", part, "",
                              "vendor is missing; NCCL stops here on x86_64",
                              "write vendor=\"GenuineIntel\" or \"AuthenticAMD\"");
  if (!IsOneOf(kVendors, cpu.vendor))
    return context.AddFinding(
        Severity::kWarning, "unknown-vendor", part, "vendor",
        fmt::format("NCCL does not know the vendor \"{}\" and treats the path "
                    "between NUMA nodes as unlimited (5000 GB/s)",
                    Printable(cpu.vendor, kMaskBytesShown)),
        cpu.vendor == "HygonGenuine"
            ? "Hygon processors have AMD's design: write AuthenticAMD, which NCCL "
              "counts with 16 GB/s"
            : "name the vendor of the most similar processor");
  if (cpu.vendor != "AuthenticAMD" && cpu.family == 0 && cpu.model == 0)
    context.AddFinding(Severity::kError, "missing-family", part, "",
                       "familyid and modelid are missing; NCCL needs them for this vendor",
                       "write both, as in /proc/cpuinfo");
}

constexpr std::size_t kNodesComparedMax = 256;  // keeps n^2 comparisons fast

/// Returns earlier nodes of the same host as `index`, at most kNodesComparedMax.
std::vector<std::uint32_t> EarlierNodes(const HostView& view, std::uint32_t index) {
  std::vector<std::uint32_t> earlier;
  for (std::uint32_t i = 0; i < index && earlier.size() < kNodesComparedMax; ++i)
    if (view.HostOf(view.numa_nodes[i]) == view.HostOf(view.numa_nodes[index]))
      earlier.push_back(i);
  return earlier;
}

/// Returns true if every CPU of `a` precedes every CPU of `b`.
bool IsBelow(const CpuSet& a, const CpuSet& b) {
  return a.ranges().back().last < b.ranges().front().first;
}

void LintAffinity(LintContext& context, std::uint32_t index) {
  const HostView& view = context.view();
  const NumaNode& node = view.numa_nodes[index];
  const Part part{PartKind::kNuma, index};
  if (node.cpus.empty()) return;
  for (const std::uint32_t i : EarlierNodes(view, index)) {
    const NumaNode& other = view.numa_nodes[i];
    if (other.cpus.empty()) continue;
    const std::string first = context.Where({PartKind::kNuma, i});
    const std::size_t common = node.cpus.CountCommon(other.cpus);
    if (node.cpus == other.cpus)
      return context.AddFinding(
          Severity::kError, "same-affinity", part, "affinity",
          fmt::format("the affinity equals that of the cpu at {}: CPUs {}", first,
                      ToString(node.cpus)),
          "every node has its own CPUs; copy them from /sys/devices/system/node/nodeN/cpumap");
    if (common > 0)
      return context.AddFinding(
          Severity::kWarning, "affinity-overlap", part, "affinity",
          fmt::format("{} of its CPUs also belong to the cpu at {}", common, first),
          "every node has its own CPUs; copy them from /sys/devices/system/node/nodeN/cpumap");
    const bool known = node.id != kUnknownNuma && other.id != kUnknownNuma;
    const bool swapped = (node.id < other.id && IsBelow(other.cpus, node.cpus)) ||
                         (node.id > other.id && IsBelow(node.cpus, other.cpus));
    if (known && swapped)
      return context.AddFinding(
          Severity::kWarning, "numa-order", part, "numaid",
          fmt::format("the CPUs of NUMA nodes {} and {} are in reverse order: the "
                      "ids of the nodes may be swapped",
                      other.id, node.id),
          "compare with /sys/devices/system/node/nodeN/cpumap");
  }
}

bool IsGpu(const PciDevice& device) {
  return device.device_class && device.device_class->role() == PciRole::kGpu;
}

/// Returns the number of top PCI functions with GPUs below them.
std::size_t CountRootsWithGpus(const HostView& view) {
  std::set<std::uint32_t> roots;
  for (std::uint32_t i = 0; i < view.pci.size(); ++i) {
    if (!IsGpu(view.pci[i])) continue;
    std::uint32_t root = i;
    while (view.pci[root].parent.kind == PartKind::kPci) root = view.pci[root].parent.index;
    roots.insert(root);
  }
  return roots.size();
}

/// Finds a big machine with all GPUs under one of several NUMA nodes, judged by its CPUs. The other
/// nodes may lack devices, but no known machine with more than two top functions to GPUs is built
/// so.
void LintOnlyNode(LintContext& context) {
  const HostView& view = context.view();
  if (view.numa_nodes.size() != 1 || view.numa_nodes[0].cpus.empty()) return;
  constexpr std::ptrdiff_t kGpusOfANode = 4;
  constexpr std::size_t kRootsOfANode = 2;
  const CpuSet& cpus = view.numa_nodes[0].cpus;
  const std::size_t up_to = cpus.ranges().back().last + std::size_t{1};
  const auto gpus = std::count_if(view.pci.begin(), view.pci.end(), IsGpu);
  if (gpus <= kGpusOfANode || cpus.Count() == up_to) return;
  const std::size_t roots = CountRootsWithGpus(view);
  context.AddFinding(
      roots > kRootsOfANode ? Severity::kError : Severity::kNote, "one-cpu", {PartKind::kNuma, 0},
      "",
      fmt::format("all {} GPUs, behind {} PCI functions, are under one cpu, but {} of CPUs "
                  "0 to {} do not belong to it: the machine has more NUMA nodes, and NCCL "
                  "does not see the paths between them",
                  gpus, roots, up_to - cpus.Count(), up_to - 1),
      "write a cpu for every NUMA node, with the devices of that node");
}

}  // namespace

void LintCpus(LintContext& context) {
  for (std::uint32_t i = 0; i < context.view().numa_nodes.size(); ++i) {
    LintModel(context, i);
    LintAffinity(context, i);
  }
  LintOnlyNode(context);
}

}  // namespace ringlet::topology
