// The hosts of a communicator as one graph of parts and links with bandwidths.
//
// Hosts are joined only if they share an NVLink domain. Such hosts form one system. Data leaves a
// system through a network interface. Every interface reaches every other. A graph is immutable. A
// search keeps its own record of used capacity.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringlet/types.hpp"
#include "topology/graph/bandwidth.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// In NCCL's order, because its search depends on it. kRank is Ringlet's own and the last one.
enum class NodeKind : std::uint8_t {
  kGpu,   ///< a rank on a device; linked to its kDev
  kPci,   ///< a PCIe switch
  kNvs,   ///< all NVSwitches of an NVLink domain
  kCpu,   ///< a NUMA node
  kNic,   ///< a network device
  kNet,   ///< a port of a network device
  kGin,   ///< the same port, usable by kernels
  kRma,   ///< the same port, usable for one-sided access
  kDev,   ///< a GPU as hardware, or one half of it; holds all its links
  kCxb,   ///< the switch between both halves of a split GPU and their processor
  kRank,  ///< an endpoint in CPU memory
};

/// Returns true for ports of network devices, for any use.
constexpr bool IsPort(NodeKind kind) {
  return kind == NodeKind::kNet || kind == NodeKind::kGin || kind == NodeKind::kRma;
}
inline constexpr std::size_t kNodeKinds = 11;

enum class LinkKind : std::uint8_t {
  kLocal,    ///< within a device or a switch; effectively unlimited
  kNvLink,   ///< NVLink or xGMI: GPU to GPU, switch or processor
  kC2c,      ///< GPU to the processor of its own package
  kPci,      ///< PCIe
  kMemory,   ///< rank to its NUMA node
  kSocket,   ///< NUMA node to NUMA node of the same host
  kNetwork,  ///< port to its device, or to the NUMA node of its slot if the device is unknown
};

enum class NodeIndex : std::uint32_t {};
constexpr std::uint32_t Index(NodeIndex node) {
  return static_cast<std::uint32_t>(node);
}

struct Link {
  NodeIndex to{};
  LinkKind kind = LinkKind::kMemory;
  Bandwidth bandwidth;  ///< towards `to`
};

struct Node {
  NodeKind kind = NodeKind::kCpu;
  std::uint32_t host = 0;  ///< index into Graph::hosts; for a kNvs, the first host of its domain
  /// kCpu: id of the NUMA node; kNet, kGin, kRma: number of the port; kGpu, kRank: the rank; kDev:
  /// NVML's number; kNvs: number of the domain in the system; others: 0.
  std::uint32_t number = 0;
  std::uint32_t facts = 0;  ///< index of the graph's further facts for this kind
  std::uint64_t id = 0;     ///< NCCL's local id, unique per kind and host
  std::string name;         ///< kNet, kGin, kRma: name of the interface
  std::vector<Link> links;  ///< in NCCL's order: fastest first, link towards the processor last
};

/// Further facts of a kGpu.
struct GpuFacts {
  NodeIndex device{};  ///< its kDev
  bool gdr = false;    ///< GPUDirect RDMA
  std::optional<NvlinkFabric> fabric = {};
};

/// Further facts of a kDev.
struct DeviceFacts {
  BusId bus;
  std::uint32_t compute_capability = 0;    ///< times 10; 0: unknown
  std::optional<std::uint32_t> half = {};  ///< number of the half, for a split GPU
  std::string gcn = {};                    ///< for AMD's GPUs: "gfx942"
};

/// Further facts of a kPci.
struct SwitchFacts {
  BusId bus;
  std::uint64_t ids = 0;  ///< in the form of PciIds::packed
};

/// Further facts of a kNet, kGin or kRma.
struct NetFacts {
  std::uint64_t chip = 0;  ///< ports with equal `chip` and `port` share bandwidth
  std::uint64_t slot = 0;  ///< address of the nearest PCI function; without one, `chip`
  std::uint32_t port = 0;
  std::uint32_t latency_ns = 0;
  std::uint32_t max_connections = 0;
  bool gdr = false;
  bool collective = false;
  std::optional<std::uint32_t> rail = {};
  std::optional<std::uint32_t> plane = {};
};

/// The nodes of one host: the range [first, end), sorted by kind.
struct HostNodes {
  std::string name;
  std::uint64_t identity = 0;
  std::uint32_t system = 0;  ///< index into Graph::systems
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

/// The hosts of one system and their nodes: two ranges.
struct SystemNodes {
  std::uint32_t first_host = 0;
  std::uint32_t end_host = 0;
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

/// The place of a rank in CPU memory.
struct RankPlace {
  Rank rank{};
  std::uint32_t host = 0;  ///< index into the hosts given to Build
  std::uint32_t numa = 0;  ///< id of the NUMA node, as in NumaNode::id
};

class Graph {
 public:
  std::span<const SystemNodes> systems() const { return systems_; }
  std::span<const HostNodes> hosts() const { return hosts_; }
  std::span<const Node> nodes() const { return nodes_; }
  const Node& at(NodeIndex node) const { return nodes_[Index(node)]; }
  const Node& at(Rank rank) const { return at(NodeOf(rank)); }
  /// \pre the rank is in the graph
  NodeIndex NodeOf(Rank rank) const { return *Find(rank); }
  std::optional<NodeIndex> Find(Rank rank) const;
  std::uint32_t rank_count() const { return static_cast<std::uint32_t>(ranks_.size()); }
  const SystemNodes& SystemOf(NodeIndex node) const {
    return systems_[hosts_[at(node).host].system];
  }
  /// The nodes of one kind, in order.
  std::vector<NodeIndex> NodesOf(const SystemNodes& system, NodeKind kind) const;

  /// \pre the node is a kGpu, kDev, kPci, kCpu, or kNet, kGin or kRma.
  const GpuFacts& gpu(NodeIndex node) const { return gpus_[at(node).facts]; }
  const DeviceFacts& device(NodeIndex node) const { return devices_[at(node).facts]; }
  const SwitchFacts& pci_switch(NodeIndex node) const { return switches_[at(node).facts]; }
  const CpuModel& cpu(NodeIndex node) const { return cpus_[at(node).facts]; }
  const NetFacts& net(NodeIndex node) const { return nets_[at(node).facts]; }

  /// Checks the properties that the comments above state, and that every link has an opposite link
  /// of its kind. The bandwidths of NVLinks may differ between directions, because broken files
  /// contain such.
  /// Errors  kInvalidArgument  names the first node that fails
  /// Cost    O(links * log links)
  Status Check() const;

 private:
  friend class Draft;
  friend struct GraphTestPeer;
  std::vector<SystemNodes> systems_;
  std::vector<HostNodes> hosts_;
  std::vector<Node> nodes_;
  std::vector<std::pair<Rank, NodeIndex>> ranks_;  // ascending
  std::vector<GpuFacts> gpus_;
  std::vector<DeviceFacts> devices_;
  std::vector<SwitchFacts> switches_;
  std::vector<CpuModel> cpus_;
  std::vector<NetFacts> nets_;
};

/// The rules for building a graph. docs/explanation/graph-and-paths.md lists the differences.
enum class Rules : std::uint8_t {
  kRinglet,
  kNccl,  ///< NCCL 2.30's rules with their faults: for comparison and for explanations of NCCL
};

/// The GPUs that become ranks. The graph lacks the others and the parts below them.
enum class GpuRanks : std::uint8_t {
  kNone,   ///< for a communicator in CPU memory
  kGiven,  ///< GPUs with a rank in the view
  kAll,    ///< all GPUs, if any; those without a rank get the lowest free numbers, in order
};

struct BuildOptions {
  Rules rules = Rules::kRinglet;
  GpuRanks gpus = GpuRanks::kNone;
  /// A host without interfaces gets an interface "unknown" with kUnknownNetSpeedMbitPerS, because
  /// ranks of other hosts reached it somehow.
  bool unknown_net = true;
  /// Hosts with GPUs in one NVLink domain (Fabric) become one system.
  bool join_fabrics = true;
};

/// Joins the views of all hosts and the places of all ranks in CPU memory.
///
/// \param hosts  the view of each host; a view with several hosts is one system. Identities differ.
/// \param ranks  without GPUs: 0 to n-1, each once, in any order; with GPUs: the ranks that are not
///               on a GPU, if any
/// Errors  kInvalidArgument  an invalid view, two equal hosts, a rank that is missing, placed twice
///                           or placed on a missing part, two GPUs with one address, or an NVLink
///                           without an opposite link; the message names host, rank or device
/// Cost    O(ranks + hosts * (NUMA nodes)^2 + links * log links)
Result<Graph> Build(std::span<const HostView> hosts, std::span<const RankPlace> ranks,
                    const BuildOptions& options = {});

inline constexpr std::size_t kGraphHostsMax = std::size_t{1} << 20;
inline constexpr std::size_t kGraphRanksMax = std::size_t{1} << 24;

/// For people and tests: one line per node, its links indented below.
std::string ToText(const Graph& graph);

/// The name of a node in NCCL's log, "GPU/0-11000": kind, number of the host in its system, local
/// id.
std::string NcclName(const Graph& graph, NodeIndex node);
/// NcclName() with host number 0. Equal in all graphs that contain the host.
std::string NameOnHost(const Graph& graph, NodeIndex node);

/// "NVL", "PCI", as in NCCL's log. "MEM" for kMemory.
std::string_view NameOf(LinkKind kind);
/// "GPU", "NVS", ...; "MEM" for kRank.
std::string_view NameOf(NodeKind kind);

}  // namespace ringlet::topology
