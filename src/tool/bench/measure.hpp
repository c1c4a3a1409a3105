// One rank of `ringlet bench`: forms the communicator, runs every size, reports.
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
  Placement placement = Placement::kBoth;  ///< out of place for operations that know no other
  Rank root{};                             ///< of operations that have one
  bool threads = false;                    ///< the ranks share one process
  bool bound = true;  ///< each rank on a core of its own, where there are enough, as mpirun does
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::vector<std::size_t> counts;  ///< of the calls, in the order in which they are run
  bool registered = false;          ///< buffers of the process's RegisteredHeap, registered
  bool changing = false;            ///< each rank writes its input before each run, within the time
  bool check = false;
  Instant late{0};  ///< the last rank calls so much later than the others
  std::optional<std::uint32_t> warmup = std::nullopt;  ///< else as many as take a moment
  std::optional<std::uint32_t> iterations =
      std::nullopt;  ///< else as many as fit the time of a size
};

/// Called on rank 0 only, from its thread, each with the result of all ranks.
using OnMessage = std::function<void(const WorkerMessage&)>;

/// Blocks until all is measured. Wrong elements are a result, not an error.
/// \param abort  ends it early while the communicator is being formed
/// Errors  kSystem  no memory; and as comm::Establish and the operations of comm::Communicator.
///         The communicator has failed on all ranks then.
Status MeasureRank(const std::shared_ptr<comm::Process>& process, const comm::Config& config,
                   const MeasureOptions& options, const OnMessage& on_message,
                   const std::stop_token& abort);

}  // namespace ringlet::cli
