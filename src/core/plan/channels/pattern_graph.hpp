// The result of the search within one class of hosts: for each pattern the channels, how fast each
// is, and how the search came to its end. Values only; who joins hosts builds on them.
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

/// How data moves among the devices of a host. The numbers are NCCL's, as its graph files have
/// them.
enum class Pattern : std::uint8_t {
  kBalancedTree = 1,   ///< a chain; the first two devices share what leaves by the NIC
  kSplitTree = 2,      ///< a chain; the first device is entered, the second left
  kTree = 3,           ///< a chain; the first device is entered and left
  kRing = 4,           ///< the first device is entered, the last left; without NICs a cycle
  kNvls = 5,           ///< the NVSwitch reduces; one device a channel, its head, talks to the NIC
  kCollnetDirect = 6,  ///< the head talks to the NIC, and every other device to the head
};
/// NCCL's word: "RING", "BALANCED_TREE".
std::string_view NameOf(Pattern pattern);

/// The purpose of a graph. The numbers are NCCL's, as its graph files have them.
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

/// Why a search came to its end.
enum class StopReason : std::uint8_t {
  kPerfect,    ///< all channels that were asked for, each as fast as a link can be
  kSaturated,  ///< the channels together are as fast as a device
  kBound,      ///< the upper bound is reached
  kDivided,    ///< equal channels come no nearer to the bound, which fractions of them reach
  kExhausted,  ///< every candidate was looked at
  kBudget,     ///< the budget of steps ran out; this is the best until then
  kFallback,   ///< nothing fits; one channel in the order of devices, so that there is one
  kNotThere,   ///< the pattern needs what this host has not; there is no channel
};
std::string_view NameOf(StopReason reason);

/// One channel within a host. Devices and NICs are numbers in the order of the system's nodes:
/// positions in Paths::Of(kGpu) (or Of(kRank)) and in Paths::Of(kNet).
struct LocalChannel {
  /// In the order in which they are visited, each once; of an NVLS channel the head alone, of
  /// CollNet direct the head and then the others.
  std::vector<std::uint32_t> devices;
  std::optional<std::uint32_t> entry = {};  ///< NIC by which data comes in; none: stays on the host
  std::optional<std::uint32_t> exit = {};   ///< and by which it leaves
  bool operator==(const LocalChannel&) const = default;
};

/// Of a pattern graph; as many as NCCL's search has.
inline constexpr std::uint32_t kSearchChannelsMax = 32;

/// The channels of one pattern. All have the same bandwidth.
struct PatternGraph {
  GraphId id = GraphId::kRing;
  Pattern pattern = Pattern::kRing;  ///< the search may have chosen a simpler tree
  std::vector<LocalChannel> channels = {};
  topology::Bandwidth intra = {};  ///< of one channel between devices
  topology::Bandwidth inter = {};  ///< of one channel by NICs; as intra where none is used
  topology::PathType type_intra = topology::PathType::kLoc;  ///< the farthest that is used
  topology::PathType type_inter = topology::PathType::kLoc;
  std::uint32_t latency_inter_ns = 0;  ///< of the NICs
  bool same_channels = false;          ///< every channel has the same order of devices
  /// NCCL's: 0 a channel leaves by the NIC it came in, 1 by any, 2 by that of the next channel,
  /// which goes the other way.
  std::uint8_t cross_nic = 0;
  std::uint32_t hops = 0;  ///< links of all channels together

  std::uint64_t steps = 0;     ///< devices that the search looked at
  std::uint32_t searches = 0;  ///< settings (bandwidth, types, ...) that it tried
  StopReason stopped = StopReason::kNotThere;
  /// No plan of this pattern on this host moves more than this, all channels together; 0: not asked
  /// for (SearchOptions::bounds).
  topology::Bandwidth bound = {};

  /// All channels together: by the narrower of intra and inter where NICs are used.
  topology::Bandwidth total() const;
  bool operator==(const PatternGraph&) const = default;
};

/// By GraphId, each with the pattern with which NCCL writes it.
std::array<PatternGraph, kGraphIds> GraphsWithoutChannels();

/// Everything about one class of hosts: graphs by GraphId. Those that the host has no use for have
/// no channels.
struct HostPlan {
  std::array<PatternGraph, kGraphIds> graphs = GraphsWithoutChannels();
  std::uint32_t devices = 0;  ///< of the host: each channel of a ring or tree visits so many
  std::uint32_t nics = 0;
  bool multi_node = false;  ///< other hosts take part: channels have NICs, if there are any

  const PatternGraph& of(GraphId id) const { return graphs[static_cast<std::size_t>(id)]; }
  PatternGraph& of(GraphId id) { return graphs[static_cast<std::size_t>(id)]; }
  bool operator==(const HostPlan&) const = default;
};

/// For logs and tests; a line for the graph, and a line a channel, "0: nic 1 > 0 3 2 1 > nic 1".
std::string ToText(const PatternGraph& graph);
/// All graphs that have channels.
std::string ToText(const HostPlan& plan);

}  // namespace ringlet::plan
