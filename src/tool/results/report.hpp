// The results of a benchmark, as values and as JSON for users and for the launcher of a worker.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ringlet/status.hpp"
#include "ringlet/types.hpp"
#include "tool/operation/bench_operation.hpp"

namespace ringlet::cli {

/// One size in one placement.
struct Measurement {
  double time_us = 0;  ///< median over iterations of the slowest rank
  double p99_us = 0;
  double cpu_us = 0;  ///< CPU time of all ranks together for one operation
  std::optional<std::uint64_t> wrong =
      std::nullopt;  ///< wrong elements on all ranks; null if not checked
  bool operator==(const Measurement&) const = default;
};

struct Row {
  std::size_t bytes = 0;
  std::size_t count = 0;  ///< count of the call
  std::optional<Measurement> out_of_place = std::nullopt;
  std::optional<Measurement> in_place = std::nullopt;
  /// Results of other libraries, by name.
  std::map<std::string, Measurement> peers = {};
  /// Returns the measurement that is compared with peers.
  const Measurement& first() const { return out_of_place ? *out_of_place : in_place.value(); }
  bool operator==(const Row&) const = default;
};

/// The links that the ranks use, such as "2 shm".
struct Formed {
  std::string links;
  bool operator==(const Formed&) const = default;
};

struct BenchReport {
  CallKind kind = CallKind::kAllReduce;
  std::uint32_t ranks = 0;
  std::string links = {};
  DataType type = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::uint32_t root = 0;                            ///< used by operations that have a root
  std::vector<std::string> peers = {};               ///< measured in turn with Ringlet
  std::map<std::string, std::string> versions = {};  ///< versions that peers reported
  std::vector<Row> rows = {};
};

/// Returns bytes divided by time, in GB/s (10^9).
double AlgorithmBandwidth(std::size_t bytes, const Measurement& measured);
/// Returns the algorithm bandwidth multiplied by BusFactor.
double BusBandwidth(const BenchReport& report, std::size_t bytes, const Measurement& measured);
/// Returns the mean over all sizes and placements; 0 if there are none.
double MeanBusBandwidth(const BenchReport& report);
/// Returns the sum over all sizes and placements.
std::uint64_t WrongElements(const BenchReport& report);

/// Errors  kProtocol  rank 0 has reported fewer sizes than expected
Status CheckComplete(std::size_t reported, std::size_t sizes);

/// Succeeds if the benchmark is complete and correct.
/// \param sizes  number of expected rows
/// Errors  kProtocol  reports the number of missing rows or of wrong elements.
Status Verdict(const BenchReport& report, std::size_t sizes);

/// Returns the whole report as one object, with a newline.
std::string ToJson(const BenchReport& report);

/// A message from rank 0 of a benchmark to its launcher, one line each.
using WorkerMessage = std::variant<Formed, Row>;
/// Returns a line without a newline. It begins with RFC 7464's record separator, as no log line
/// does.
std::string ToLine(const WorkerMessage& message);
/// Returns null for a line that is not a message, such as a log line.
/// Errors  kProtocol  the line begins like a message but does not parse
Result<std::optional<WorkerMessage>> ParseLine(std::string_view line);

}  // namespace ringlet::cli
