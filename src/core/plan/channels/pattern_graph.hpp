// The result of the search within one class of hosts: for each pattern, the channels, their
// bandwidth and the reason why the search stopped. Contains values only. Join() combines them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/graph/bandwidth.hpp"
#include "topology/paths/path_options.hpp"

namespace ringlet::plan {

/// The movement of data among the devices of a host. The numbers are NCCL's, as in its graph files.
enum class Pattern : std::uint8_t {
  kBalancedTree = 1,  ///< a chain; the first two devices share the NIC's outgoing data
  kSplitTree = 2,     ///< a chain; data enters at the first device and leaves at the second
  kTree = 3,          ///< a chain; data enters and leaves at the first device
  kRing = 4,  ///< data enters at the first device and leaves at the last; a cycle without NICs
  kNvls = 5,  ///< the NVSwitch reduces; the head is the only device and uses the NIC
  kCollnetDirect = 6,  ///< the head exchanges data with the NIC and with every other device
};
/// NCCL's word: "RING", "BALANCED_TREE".
std::string_view NameOf(Pattern pattern);

/// The purpose of a graph. The numbers are NCCL's, as in its graph files.
enum class GraphId : std::uint8_t {
  kRing = 0,
  kTree = 1,
  kCollnetChain = 2,
  kNvls = 3,
  kCollnetDirect = 4,
};
inline constexpr std::size_t kGraphIds = 5;
/// "ring", "tree", "collnet chain", "nvls", "collnet direct".
std::string_view NameOf(GraphId id);

/// The reason why a search stopped.
enum class StopReason : std::uint8_t {
  kPerfect,    ///< the search found all requested channels, each as fast as a link allows
  kSaturated,  ///< the channels together are as fast as a device
  kBound,      ///< the channels reach the upper bound
  kDivided,    ///< fractions of channels reach the bound; equal channels get no nearer to it
  kExhausted,  ///< the search visited every candidate
  kBudget,     ///< the search used up its steps; the result is the best so far
  kFallback,   ///< no channel fits; the result is one channel in the order of devices
  kNotThere,   ///< the host lacks a required part; the graph is empty
};
std::string_view NameOf(StopReason reason);

/// A channel within a host. Devices and NICs are numbers in the order of the system's nodes:
/// positions in Paths::Of(kGpu) (or Of(kRank)) and in Paths::Of(kNet).
struct LocalChannel {
  /// In the order of visits, each device once. An NVLS channel contains its head alone. A CollNet
  /// direct channel contains its head, then the other devices.
  std::vector<std::uint32_t> devices;
  std::optional<std::uint32_t> entry = {};  ///< the NIC where data enters; null: stays on the host
  std::optional<std::uint32_t> exit = {};   ///< the NIC where data leaves
  bool operator==(const LocalChannel&) const = default;
};

/// Maximum number of channels of a pattern graph, the same as in NCCL's search.
inline constexpr std::uint32_t kSearchChannelsMax = 32;

/// The channels of one pattern. All channels have the same bandwidth.
struct PatternGraph {
  GraphId id = GraphId::kRing;
  Pattern pattern = Pattern::kRing;  ///< the search may choose a simpler tree
  std::vector<LocalChannel> channels = {};
  topology::Bandwidth intra = {};  ///< of one channel between devices
  topology::Bandwidth inter = {};  ///< of one channel through NICs; equals intra without NICs
  topology::PathType type_intra = topology::PathType::kLoc;  ///< the farthest type in use
  topology::PathType type_inter = topology::PathType::kLoc;
  std::uint32_t latency_inter_ns = 0;  ///< latency of the NICs
  bool same_channels = false;          ///< true if every channel has the same order of devices
  /// NCCL's values. 0: a channel leaves by the NIC where it enters. 1: it leaves by any NIC. 2: it
  /// leaves by the NIC of the next channel, which runs in the opposite direction.
  std::uint8_t cross_nic = 0;
  std::uint32_t hops = 0;  ///< total number of links over all channels

  std::uint64_t steps = 0;     ///< number of devices that the search visited
  std::uint32_t searches = 0;  ///< number of settings (bandwidth, types, ...) that the search tried
  StopReason stopped = StopReason::kNotThere;
  /// Upper bound for the total bandwidth of any plan of this pattern on this host. 0: not computed,
  /// see SearchOptions::bounds.
  topology::Bandwidth bound = {};

  /// Bandwidth of all channels together. With NICs, the narrower of intra and inter counts.
  topology::Bandwidth total() const;
  bool operator==(const PatternGraph&) const = default;
};

/// One empty graph per GraphId, each with the pattern that NCCL writes for it.
std::array<PatternGraph, kGraphIds> GraphsWithoutChannels();

/// The result for one class of hosts, indexed by GraphId. Graphs of no use to the host are empty.
struct HostPlan {
  std::array<PatternGraph, kGraphIds> graphs = GraphsWithoutChannels();
  std::uint32_t devices = 0;  ///< of the host; each channel of a ring or tree visits all of them
  std::uint32_t nics = 0;
  bool multi_node = false;  ///< other hosts take part; channels use NICs, if the host has any

  const PatternGraph& of(GraphId id) const { return graphs[static_cast<std::size_t>(id)]; }
  PatternGraph& of(GraphId id) { return graphs[static_cast<std::size_t>(id)]; }
  bool operator==(const HostPlan&) const = default;
};

/// For logs and tests. One line for the graph, and one per channel: "0: nic 1 > 0 3 2 1 > nic 1".
std::string ToText(const PatternGraph& graph);
/// The texts of all graphs that have channels.
std::string ToText(const HostPlan& plan);

}  // namespace ringlet::plan
