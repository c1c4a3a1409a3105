// Estimates the time of a collective for each algorithm and protocol, and selects the fastest pair.
// Implements NCCL 2.30's model of GPUs in pure integer functions, so that all ranks choose alike.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "plan/channels/join.hpp"
#include "plan/tuning/tuning_choice.hpp"
#include "plan/tuning/tuning_constants.hpp"
#include "ringlet/status.hpp"

namespace ringlet::plan {

/// The input of the model.
struct TuningInput {
  std::uint32_t ranks = 1;
  std::uint32_t nodes = 1;
  std::array<Common, kGraphIds> graphs = {};  ///< the values that all nodes support
  std::uint32_t capability_min = 0;           ///< lowest of all GPUs, times 10
  std::uint32_t capability_max = 0;
  bool amd_or_mixed = false;  ///< a processor is AMD's, or vendors differ
  bool amd = false;           ///< all processors are x86 and AMD's
  bool power = false;
  bool nvswitch = false;
  bool collnet = false;
  bool pat = false;              ///< one rank per node, and a network that the host drives
  std::uint32_t nvls_heads = 0;  ///< of the node with the fewest
  std::uint32_t node_ranks_max = 1;
  std::optional<std::uint32_t> net_overhead_ns = {};  ///< NCCL_NET_OVERHEAD
  TuningChoice choice = {};
  TuningConstants constants = kNcclConstants;
};

/// The bandwidth and latency of one algorithm and protocol for a function. `bandwidth` 0: not used.
struct TuningCell {
  topology::Bandwidth bandwidth;  ///< bytes of the result, divided by time
  std::uint64_t latency_ns = 0;
  bool operator==(const TuningCell&) const = default;
};

struct TuningPick {
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  std::uint64_t time_ns = 0;
  bool operator==(const TuningPick&) const = default;
};

/// The time of each algorithm and protocol for one call. Null: not used.
using TimeTable = std::array<std::array<std::optional<std::uint64_t>, kProtocols>, kAlgorithms>;

/// The launch parameters of a kernel.
struct TuningLaunch {
  std::uint32_t channels = 1;
  std::uint32_t threads = 96;
  bool operator==(const TuningLaunch&) const = default;
};

class Tuning {
 public:
  /// \param channels  channels of the plan
  Tuning(TuningInput input, ChannelCounts channels);

  const TuningCell& At(Function function, NcclAlgorithm algorithm, Protocol protocol) const;
  /// \param bytes  sent or received by a rank, whichever is larger
  std::optional<std::uint64_t> TimeNs(Function function, NcclAlgorithm algorithm, Protocol protocol,
                                      std::uint64_t bytes) const;
  /// The fastest algorithm and protocol.
  /// Errors  kInvalidArgument  NCCL_ALGO and NCCL_PROTO allow nothing
  Result<TuningPick> Pick(Function function, std::uint64_t bytes) const;
  /// The fastest of `algorithms`. Ties: the first one. Null if the user allows none of them.
  std::optional<TuningPick> PickOf(Function function, std::span<const NcclAlgorithm> algorithms,
                                   std::uint64_t bytes) const;
  TuningLaunch LaunchOf(const TuningPick& pick, std::uint64_t bytes) const;
  TimeTable TimesOf(Function function, std::uint64_t bytes) const;

  const TuningInput& input() const { return input_; }
  void SetConstants(const TuningConstants& constants);

 private:
  void FillCells();

  TuningInput input_;
  ChannelCounts channels_;
  std::array<std::array<std::array<TuningCell, kProtocols>, kAlgorithms>, kFunctions> cells_ = {};
};

}  // namespace ringlet::plan
