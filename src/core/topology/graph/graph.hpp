// All hosts of a communicator as one graph: what is there, and how fast it is joined.
//
// Hosts are joined only where they share an NVLink domain; such hosts are one system. Data leave a
// system through a network interface, and every interface reaches every other. The graph never
// changes once built; capacity that a search uses up is kept in the search.
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

/// In NCCL's order, which its search depends on; kRank is ours and comes last.
enum class NodeKind : std::uint8_t {
  kGpu,   ///< a rank on a device; hangs off its kDev
  kPci,   ///< a PCIe switch
  kNvs,   ///< all NVSwitches of an NVLink domain
  kCpu,   ///< a NUMA node
  kNic,   ///< a network device
  kNet,   ///< a port of one
  kGin,   ///< the same port, usable by kernels
  kRma,   ///< the same port, usable for one-sided access
  kDev,   ///< a GPU as hardware, or one half of it: all its links are here
  kCxb,   ///< the switch through which both halves of a split GPU reach their processor
  kRank,  ///< an endpoint in CPU memory
};

/// Of a network device, for whichever use.
constexpr bool IsPort(NodeKind kind) {
  return kind == NodeKind::kNet || kind == NodeKind::kGin || kind == NodeKind::kRma;
}
inline constexpr std::size_t kNodeKinds = 11;

enum class LinkKind : std::uint8_t {
  kLocal,    ///< within a device or a switch; as good as no limit
  kNvLink,   ///< NVLink or xGMI: GPU to GPU, switch or processor
  kC2c,      ///< GPU to the processor of its own package
  kPci,      ///< PCIe
  kMemory,   ///< rank to its NUMA node
  kSocket,   ///< NUMA node to NUMA node of the same host
  kNetwork,  ///< port to its device, or to the NUMA node of its slot where no device is known
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
  std::uint32_t host = 0;  ///< index into Graph::hosts; of a kNvs: the first of its domain
  /// kCpu: id of the NUMA node; kNet, kGin, kRma: number of the port; kGpu, kRank: the rank; kDev:
  /// NVML's number; kNvs: which domain of the system; others: 0.
  std::uint32_t number = 0;
  std::uint32_t facts = 0;  ///< where the graph keeps more about it
  std::uint64_t id = 0;     ///< NCCL's local id: names a node among those of its kind and host
  std::string name;         ///< kNet, kGin, kRma: of the interface
  std::vector<Link> links;  ///< in NCCL's order: fastest first, towards the processor last
};

/// More about a kGpu.
struct GpuFacts {
  NodeIndex device{};  ///< its kDev
  bool gdr = false;    ///< GPUDirect RDMA
  std::optional<Fabric> fabric = {};
};

/// More about a kDev.
struct DeviceFacts {
  BusId bus;
  std::uint32_t compute_capability = 0;    ///< times 10; 0: unknown
  std::optional<std::uint32_t> half = {};  ///< which, of a split GPU
  std::string gcn = {};                    ///< of AMD's: "gfx942"
};

/// More about a kPci.
struct SwitchFacts {
  BusId bus;
  std::uint64_t ids = 0;  ///< as PciIds::packed has them
};

/// More about a kNet, kGin or kRma.
struct NetFacts {
  std::uint64_t chip = 0;  ///< equal for ports that share bandwidth, together with `port`
  std::uint64_t slot = 0;  ///< of the nearest PCI function; `chip` where there is none
  std::uint32_t port = 0;
  std::uint32_t latency_ns = 0;
  std::uint32_t max_connections = 0;
  bool gdr = false;
  bool collective = false;
  std::optional<std::uint32_t> rail = {};
  std::optional<std::uint32_t> plane = {};
};

/// The nodes of one host are neighbours: [first, end), by kind.
struct HostNodes {
  std::string name;
  std::uint64_t identity = 0;
  std::uint32_t system = 0;  ///< index into Graph::systems
  std::uint32_t first = 0;
  std::uint32_t end = 0;
};

/// So are the hosts of one system, and their nodes.
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

  /// Whether what the comments above say holds, and every link has one of its kind back; the
  /// bandwidth of NVLinks may differ, which broken files say.
  /// Errors  kInvalidArgument  names the first node for which it does not
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

/// The rules to follow if Ringlet's differ; docs/explanation/graph-and-paths.md lists the
/// differences.
enum class Rules : std::uint8_t {
  kRinglet,
  kNccl,  ///< as NCCL 2.30 does it, faults included: to compare with it, to explain what it does
};

/// Which GPUs become ranks. The others are left out, and what hangs on them.
enum class GpuRanks : std::uint8_t {
  kNone,   ///< of a communicator in CPU memory
  kGiven,  ///< those that the view gives a rank
  kAll,    ///< those, and the rest get the lowest numbers that are free, in order; may be none
};

struct BuildOptions {
  Rules rules = Rules::kRinglet;
  GpuRanks gpus = GpuRanks::kNone;
  /// A host without interfaces gets one, "unknown", of kUnknownNetSpeedMbitPerS: ranks of others
  /// reached it somehow.
  bool unknown_net = true;
  /// Hosts whose GPUs are of one NVLink domain (Fabric) become one system.
  bool join_fabrics = true;
};

/// Joins the views of all hosts and the places of all ranks in CPU memory.
///
/// \param hosts the view of each host; a view that holds several hosts is one system. Identities
///               differ.
/// \param ranks  without GPUs, 0 to n-1, each once, in any order; with GPUs, those that are not on
///               a GPU, if any.
/// Errors  kInvalidArgument  a view is bad, two hosts are the same, a rank is missing, placed
///                           twice, or placed where nothing is, two GPUs have one address, or an
///                           NVLink has no way back; the sentence names host, rank or device
/// Cost    O(ranks + hosts * (NUMA nodes)^2 + links * log links)
Result<Graph> Build(std::span<const HostView> hosts, std::span<const RankPlace> ranks,
                    const BuildOptions& options = {});

inline constexpr std::size_t kGraphHostsMax = std::size_t{1} << 20;
inline constexpr std::size_t kGraphRanksMax = std::size_t{1} << 24;

/// For people and tests: a node a line, its links indented below.
std::string ToText(const Graph& graph);

/// The name of a node in NCCL's log: kind, host of its system, local id: "GPU/0-11000".
std::string NcclName(const Graph& graph, NodeIndex node);
/// The same as if its host were alone: equal in all graphs that the host is part of.
std::string NameOnHost(const Graph& graph, NodeIndex node);

/// "NVL", "PCI", as NCCL's log says; "MEM" for kMemory.
std::string_view NameOf(LinkKind kind);
/// "GPU", "NVS", ...; "MEM" for kRank.
std::string_view NameOf(NodeKind kind);

}  // namespace ringlet::topology
