#include "plan/tuning/tuning_cell.hpp"
#include "plan/channels/capability.hpp"

#include <algorithm>
#include <bit>

namespace ringlet::plan {
namespace {

using topology::PathType;

// Source of all numbers: NCCL 2.30's tuning model. Bandwidth is in MB/s, latency in ns.

enum Generation : std::size_t { kOfVolta, kOfAmpere, kOfHopper, kOfBlackwell, kGenerations };
static_assert(kGenerations == kTunedGenerations);
constexpr std::array<std::uint64_t, kGenerations> kNvlsPercent = {0, 0, 85, 74};
enum WireKind : std::size_t { kNvLinkWire, kPciWire, kNetWire };

Generation GenerationOf(std::uint32_t capability) {
  if (capability >= kBlackwell) return kOfBlackwell;
  if (capability >= kHopper) return kOfHopper;
  return capability >= kAmpere ? kOfAmpere : kOfVolta;
}

class CostCell {
 public:
  CostCell(const TuningInput& input, Function function, NcclAlgorithm algorithm, Protocol protocol)
      : in_(input),
        function_(function),
        algorithm_(algorithm),
        protocol_(protocol),
        graph_(GraphOf(input, algorithm)),
        generation_(GenerationOf(input.capability_min)),
        scale_(input.nodes > 2 ? 2 : input.nodes - 1),
        a_(static_cast<std::size_t>(algorithm)),
        p_(static_cast<std::size_t>(protocol)) {}

  TuningCell Run() const {
    if (!Possible()) return {};
    const std::uint64_t bandwidth = Algorithmic(Bus());
    return {{static_cast<std::uint32_t>(std::min<std::uint64_t>(bandwidth, UINT32_MAX))},
            LatencyNs()};
  }

 private:
  bool IsCollnet() const {
    return algorithm_ == NcclAlgorithm::kCollnetDirect ||
           algorithm_ == NcclAlgorithm::kCollnetChain;
  }
  bool IsNvls() const {
    return algorithm_ == NcclAlgorithm::kNvls || algorithm_ == NcclAlgorithm::kNvlsTree;
  }
  bool IsGathering() const {
    return function_ == Function::kAllGather || function_ == Function::kReduceScatter;
  }
  bool IsAllReduce() const { return function_ == Function::kAllReduce; }
  std::uint64_t PerNode() const { return std::max(1u, in_.ranks / in_.nodes); }

  bool HasFunction() const {
    switch (function_) {
      case Function::kBroadcast:
      case Function::kReduce: return algorithm_ == NcclAlgorithm::kRing;
      case Function::kAllGather:
      case Function::kReduceScatter:
        return algorithm_ == NcclAlgorithm::kRing || algorithm_ == NcclAlgorithm::kPat ||
               algorithm_ == NcclAlgorithm::kNvls || algorithm_ == NcclAlgorithm::kCollnetDirect;
      case Function::kAllReduce: return algorithm_ != NcclAlgorithm::kPat;
    }
    return false;
  }

  bool Possible() const {
    if (!HasFunction() || graph_.channels == 0) return false;
    const bool simple = protocol_ == Protocol::kSimple;
    if (!simple && (IsNvls() || IsCollnet() || algorithm_ == NcclAlgorithm::kPat)) return false;
    if (algorithm_ == NcclAlgorithm::kPat && !in_.pat) return false;
    if (algorithm_ == NcclAlgorithm::kNvlsTree && in_.nodes == 1) return false;
    if (IsNvls() && graph_.channels < 2) return false;
    const bool over_switches = IsCollnet() || (algorithm_ == NcclAlgorithm::kNvls && in_.nodes > 1);
    if (over_switches && !in_.collnet) return false;
    if (algorithm_ == NcclAlgorithm::kCollnetDirect && !in_.nvswitch) return false;
    const bool gathers =
        IsGathering() && in_.nodes > 1 &&
        (algorithm_ == NcclAlgorithm::kNvls || algorithm_ == NcclAlgorithm::kCollnetDirect);
    if (gathers && in_.node_ranks_max > in_.nvls_heads) return false;
    if (protocol_ == Protocol::kLl128 && !MayLl128()) return false;
    return in_.choice.Allows(function_, algorithm_, protocol_);
  }

  // Returns true where writes of 128 bytes are known to arrive whole.
  bool MayLl128() const {
    if (in_.choice.protocols_given) return true;
    const PathType farthest = in_.capability_min >= kHopper ? PathType::kPxn : PathType::kPxb;
    return graph_.type_inter <= farthest && graph_.type_intra <= PathType::kNvb &&
           (in_.capability_min == in_.capability_max || in_.capability_min >= kHopper) &&
           in_.capability_min >= kVolta;
  }

  // Bandwidth of one channel.
  std::uint64_t Channel() const {
    const std::uint64_t intra = graph_.intra.mb_per_s, inter = graph_.inter.mb_per_s;
    if (!IsNvls()) return in_.nodes <= 2 || IsCollnet() ? intra : inter;
    const std::uint64_t reduced =
        intra * kNvlsPercent[generation_] * (graph_.channels - 1) / (100 * graph_.channels);
    const std::uint64_t inside =
        IsAllReduce() ? 2 * reduced : reduced * (PerNode() - 1) / PerNode();
    const bool doubled = algorithm_ == NcclAlgorithm::kNvlsTree && in_.nodes <= 2;
    const std::uint64_t both = std::min(inside, doubled ? 2 * inter : inter);
    return algorithm_ == NcclAlgorithm::kNvlsTree
               ? std::min(both, in_.constants.nvls_tree_mb_per_s[generation_][scale_])
               : both;
  }

  std::uint64_t LlMax() const {
    const std::size_t row = in_.nodes == 1 ? std::size_t{generation_} : in_.amd_or_mixed ? 1u : 0u;
    return in_.constants.ll_mb_per_s[row][scale_];
  }

  // Bus bandwidth of all channels, as NCCL counts it.
  std::uint64_t Bus() const {
    const std::uint64_t channels = graph_.channels;
    std::uint64_t bus = channels * Channel();
    const bool simple = protocol_ == Protocol::kSimple;
    if (algorithm_ == NcclAlgorithm::kRing) {
      if (protocol_ == Protocol::kLl) bus = std::min(LlMax(), bus / 2);
      if (protocol_ == Protocol::kLl128)
        bus = std::min(bus * 92 / 100,
                       channels * in_.constants.ring_ll128_mb_per_s[generation_][scale_]);
    }
    if (algorithm_ == NcclAlgorithm::kTree) {
      bus = std::min(bus * 92 / 100, channels * in_.constants.tree_mb_per_s[generation_][scale_]);
      if (protocol_ == Protocol::kLl) bus = std::min(bus * 10 / 38, LlMax());
      if (protocol_ == Protocol::kLl128)
        bus = std::min(in_.nodes == 1 ? bus * 7 / 9 : bus * 120 / 128,
                       channels * in_.constants.tree_ll128_mb_per_s[generation_][scale_]);
      if (graph_.pattern == Pattern::kTree) bus = bus * 85 / 100;
    }
    if (algorithm_ == NcclAlgorithm::kPat) bus = bus * 3 / 4;
    if (algorithm_ == NcclAlgorithm::kCollnetDirect && simple) bus = CollnetBus(bus, channels);
    return bus;
  }

  std::uint64_t CollnetBus(std::uint64_t bus, std::uint64_t channels) const {
    if (!IsAllReduce())
      return PerNode() * std::min<std::uint64_t>(graph_.intra.mb_per_s,
                                                 std::uint64_t{graph_.inter.mb_per_s} * 9 / 10);
    // Divides by (ranks / channels + 1) / 2.
    const std::uint64_t shared = bus * 2 * channels / (PerNode() + channels);
    return in_.capability_min >= 90 ? shared * 85 / 100 : shared;
  }

  std::uint64_t Algorithmic(std::uint64_t bus) const {
    const std::uint64_t ranks = in_.ranks;
    if (IsGathering() && algorithm_ != NcclAlgorithm::kRing && !IsNvls()) return bus;
    if (algorithm_ != NcclAlgorithm::kRing && !IsNvls()) return bus / 2;
    return Steps() == 0 ? bus : bus * ranks / Steps();
  }

  std::uint64_t Steps() const {
    if (IsAllReduce()) return 2 * (std::uint64_t{in_.ranks} - 1);
    return IsGathering() ? in_.ranks - 1 : in_.ranks;
  }

  std::uint64_t Overhead() const { return in_.net_overhead_ns.value_or(in_.amd ? 2'000 : 1'000); }

  std::uint64_t IntraNs() const {
    const bool pci_tree = in_.power && algorithm_ == NcclAlgorithm::kTree &&
                          protocol_ == Protocol::kSimple && graph_.type_intra != PathType::kNvl;
    if (pci_tree)
      return in_.constants.wire_ns[kPciWire][static_cast<std::size_t>(NcclAlgorithm::kRing)][p_];
    return in_.constants
        .wire_ns[graph_.type_intra == PathType::kNvl ? kNvLinkWire : kPciWire][a_][p_];
  }

  std::uint64_t InterNs() const {
    const std::size_t as = PerNode() == 1 ? static_cast<std::size_t>(NcclAlgorithm::kTree) : a_;
    const std::uint64_t nic = graph_.latency_inter_ns;
    return in_.constants.wire_ns[kNetWire][as][p_] +
           (protocol_ == Protocol::kSimple ? 2 * nic : nic);
  }

  std::uint64_t LatencyNs() const {
    const std::uint64_t base = in_.constants.base_ns[a_][p_], intra = IntraNs(), inter = InterNs();
    const std::uint64_t inside = in_.ranks / in_.nodes - (in_.ranks >= in_.nodes ? 1 : 0);
    const std::uint64_t levels = static_cast<std::uint64_t>(std::bit_width(in_.nodes) - 1);
    switch (algorithm_) {
      case NcclAlgorithm::kRing: return base + RingNs(intra, inter);
      case NcclAlgorithm::kTree: return base + 2 * (inside * intra + levels * inter);
      case NcclAlgorithm::kCollnetDirect:
        return base + 2 * (std::min<std::uint64_t>(1, inside) * intra + inside * 400) + inter;
      case NcclAlgorithm::kCollnetChain: return base + 2 * inside * intra + inter;
      case NcclAlgorithm::kNvls: return intra + (in_.nodes > 1 ? inter : 0);
      case NcclAlgorithm::kNvlsTree: return base + intra + 2 * levels * inter;
      case NcclAlgorithm::kPat:
        return base + levels * inter * 2 / 7 + 2'800 * std::uint64_t{in_.ranks};
    }
    return base;
  }

  std::uint64_t RingNs(std::uint64_t intra, std::uint64_t inter) const {
    const bool simple = protocol_ == Protocol::kSimple;
    if (function_ == Function::kBroadcast || function_ == Function::kReduce) {
      const std::size_t wire = in_.nodes > 1                         ? kNetWire
                               : graph_.type_intra == PathType::kNvl ? kNvLinkWire
                                                                     : kPciWire;
      const auto& ring =
          in_.constants.wire_ns[wire][static_cast<std::size_t>(NcclAlgorithm::kRing)];
      const auto& tree =
          in_.constants.wire_ns[wire][static_cast<std::size_t>(NcclAlgorithm::kTree)];
      return graph_.same_channels ? ring[p_] : Steps() * (simple ? tree[p_] : ring[p_]);
    }
    if (in_.nodes > 1) intra = std::max(intra, simple ? 3 * Overhead() : Overhead());
    const std::uint64_t multi_node =
        in_.nodes == 1 ? 0 : (IsAllReduce() ? 2 : 1) * (std::uint64_t{in_.nodes} - 1);
    return (Steps() - multi_node) * intra + multi_node * inter;
  }

  const TuningInput& in_;
  Function function_;
  NcclAlgorithm algorithm_;
  Protocol protocol_;
  const Common& graph_;
  Generation generation_;
  std::size_t scale_, a_, p_;
};

}  // namespace

const Common& GraphOf(const TuningInput& input, NcclAlgorithm algorithm) {
  constexpr std::array<GraphId, kAlgorithms> kGraphs = {
      GraphId::kTree, GraphId::kRing, GraphId::kCollnetDirect, GraphId::kCollnetChain,
      GraphId::kNvls, GraphId::kNvls, GraphId::kTree};
  return input.graphs[static_cast<std::size_t>(kGraphs[static_cast<std::size_t>(algorithm)])];
}

TuningCell CellOf(const TuningInput& input, Function function, NcclAlgorithm algorithm,
                  Protocol protocol) {
  return CostCell(input, function, algorithm, protocol).Run();
}

std::uint32_t TreeTenths(Protocol protocol, std::uint64_t bytes) {
  // One entry per power of 2, starting at 64 bytes.
  static constexpr std::uint8_t kTenths[kProtocols][24] = {
      {10, 10, 10, 10, 9, 8, 7, 7, 7, 7, 6, 5, 4, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 10},
      {10, 10, 10, 10, 10, 9, 8, 8, 8, 7, 6, 6, 6, 6, 6, 6, 8, 9, 9, 9, 9, 10, 10, 10},
      {9, 9, 9, 9, 9, 9, 9, 8, 7, 6, 6, 5, 5, 5, 5, 6, 7, 8, 7, 7, 8, 9, 9, 9}};
  constexpr std::uint64_t kFirstBytes = 64;
  constexpr int kLast = 22;
  const std::uint64_t units = bytes / kFirstBytes;
  if (units == 0) return 10;
  const auto size = static_cast<int>(std::bit_width(units)) - 1;
  if (size > kLast) return 10;
  return kTenths[static_cast<std::size_t>(protocol)][size];
}

}  // namespace ringlet::plan
