// Predicts the time of a collective on GPUs that need not exist, and the bytes that each link
// carries for it. For simulators and for users that choose how to divide a model.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collective/call/call.hpp"
#include "plan/gpus/gpu_plan.hpp"
#include "ringlet/status.hpp"

namespace ringlet::comm {

/// One direction of one link.
struct LinkFlow {
  std::uint32_t host = 0;  ///< index of the host in PlanGpus
  std::string from, to;    ///< NCCL's names on that host: "GPU/0-11000"
  topology::LinkKind kind = topology::LinkKind::kLocal;
  topology::Bandwidth bandwidth;
  std::uint64_t bytes = 0;

  /// Returns the time at the link's full bandwidth, without other delays.
  double time_us() const { return static_cast<double>(bytes) / bandwidth.mb_per_s; }
};

/// All bytes that one call sends from GPU to GPU, on rings or trees.
struct Flows {
  plan::TuningPick pick;             ///< the fastest of rings and trees
  std::uint32_t channels = 0;        ///< in use
  std::vector<LinkFlow> links = {};  ///< in the order of their times, the longest first
};

struct Prediction {
  collective::CallKind kind = collective::CallKind::kAllReduce;
  std::uint64_t bytes = 0;  ///< size of the larger one of a rank's buffers
  std::uint32_t ranks = 0, hosts = 0;
  plan::TuningPick pick = {};
  plan::TuningLaunch launch = {};
  std::optional<Flows> flows = {};  ///< empty: not requested

  double time_us() const { return static_cast<double>(pick.time_ns) / 1000; }
  double algbw() const { return static_cast<double>(bytes) / time_us() / 1000; }  ///< GB/s
  double busbw() const { return algbw() * collective::BusFactor(kind, ranks); }
};

inline constexpr std::uint32_t kFlowRanksMax = 4096;

/// Errors  kUnsupported  more than kFlowRanksMax ranks
Status CheckFlows(std::uint32_t ranks);

/// Returns the flows of a call with root 0. Uses the faster one of rings and trees in place of NVLS
/// and similar algorithms, which the emulation does not run. `pick` contains that choice.
/// \pre    FunctionOf(kind) is set
/// Errors  kUnsupported      as CheckFlows
///         kInvalidArgument  NCCL_ALGO and NCCL_PROTO allow neither rings nor trees
/// Cost    O(ranks * channels * (ranks + links of a route))
Result<Flows> FlowsOf(const plan::GpuPlan& plan, collective::CallKind kind, std::uint64_t bytes);

/// One object; keys: docs/reference/predict.md.
std::string ToJson(const Prediction& prediction);

struct PredictionRequest {
  std::string xml;           ///< the text of an NCCL topology file
  std::string name = "xml";  ///< of the text, for errors
  std::uint32_t hosts = 1;   ///< equal machines
  std::string operation;     ///< "all_reduce"
  std::uint64_t bytes = 0;
  bool flows = true;
};

/// Returns the JSON of a prediction for all GPUs of the machines, with this process's settings.
/// Errors  kInvalidArgument  the text is not a topology, or lacks GPUs; the operation is unknown;
///                           hosts or bytes are 0; a variable of the environment makes no sense
///         kUnsupported      as FlowsOf; more than kFlowRanksMax ranks
/// Cost    that of PlanGpus and FlowsOf
Result<std::string> PredictionJson(const PredictionRequest& request);

}  // namespace ringlet::comm
