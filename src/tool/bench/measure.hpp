// One rank of `ringlet bench`: forms the communicator, measures each size and reports the times.
#pragma once
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "comm/establish/establish.hpp"
#include "tool/results/report.hpp"

namespace ringlet::cli {

enum class Placement { kBoth, kOutOfPlace, kInPlace };

struct MeasureOptions {
  CallKind kind = CallKind::kAllReduce;
  Placement placement = Placement::kBoth;  ///< ignored by operations without an in-place form
  Rank root{};                             ///< used by operations that have a root
  bool threads = false;                    ///< the ranks share one process
  bool bound = true;  ///< bind each rank to its own core if there are enough cores, as mpirun does
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::vector<std::size_t> counts;  ///< counts of the calls, in the order of execution
  bool registered = false;          ///< use registered buffers of the process's RegisteredHeap
  bool changing = false;  ///< each rank writes its input before each run, within the measured time
  bool check = false;
  Instant late{0};                                     ///< delay of the last rank before each call
  std::optional<std::uint32_t> warmup = std::nullopt;  ///< null: as many as fit a fixed time
  std::optional<std::uint32_t> iterations =
      std::nullopt;  ///< null: as many as fit the time of a size
};

/// Receives the results of all ranks. Only rank 0 calls it, from its own thread.
using OnMessage = std::function<void(const WorkerMessage&)>;

/// Measures all sizes; blocks until it is done. Wrong elements are a result, not an error.
/// \param abort  stops the forming of the communicator
/// Errors  kSystem  memory cannot be allocated; and as comm::Establish and the operations of
///                 comm::Communicator. The communicator has then failed on all ranks.
Status MeasureRank(const std::shared_ptr<comm::Process>& process, const comm::Config& config,
                   const MeasureOptions& options, const OnMessage& on_message,
                   const std::stop_token& abort);

}  // namespace ringlet::cli
