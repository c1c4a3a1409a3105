// The findings of a benchmark, as values and as JSON: for the user, and from a worker to its
// launcher.
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

/// One size, in one placement.
struct Measurement {
  double time_us = 0;  ///< median over iterations of the slowest rank
  double p99_us = 0;
  double cpu_us = 0;  ///< computed by all ranks together for one operation
  std::optional<std::uint64_t> wrong =
      std::nullopt;  ///< elements on all ranks; empty if not checked
  bool operator==(const Measurement&) const = default;
};

struct Row {
  std::size_t bytes = 0;
  std::size_t count = 0;  ///< of the call
  std::optional<Measurement> out_of_place = std::nullopt;
  std::optional<Measurement> in_place = std::nullopt;
  /// The figures of other libraries, by name.
  std::map<std::string, Measurement> peers = {};
  /// That which is compared with others.
  const Measurement& first() const { return out_of_place ? *out_of_place : in_place.value(); }
  bool operator==(const Row&) const = default;
};

/// How the ranks turned out to be linked, such as "2 shm".
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
  std::uint32_t root = 0;                            ///< of operations that have one
  std::vector<std::string> peers = {};               ///< that were measured beside
  std::map<std::string, std::string> versions = {};  ///< of peers that said theirs
  std::vector<Row> rows = {};
};

/// Bytes over time, in GB/s (10^9).
double AlgorithmBandwidth(std::size_t bytes, const Measurement& measured);
/// The same, times BusFactor.
double BusBandwidth(const BenchReport& report, std::size_t bytes, const Measurement& measured);
/// Over all sizes and placements; 0 without any.
double MeanBusBandwidth(const BenchReport& report);
/// Over all sizes and placements.
std::uint64_t WrongElements(const BenchReport& report);

/// Errors  kProtocol  rank 0 has reported fewer sizes than it should
Status CheckComplete(std::size_t reported, std::size_t sizes);

/// Whether the benchmark was what it should be.
/// \param sizes  how many rows there must be
/// Errors  kProtocol  says how many are missing, or how many elements are wrong.
Status Verdict(const BenchReport& report, std::size_t sizes);

/// The whole report as one object, with a newline.
std::string ToJson(const BenchReport& report);

/// The reports of rank 0 of a benchmark to its launcher, a line each.
using WorkerMessage = std::variant<Formed, Row>;
/// Begins with a byte that no log line begins with (RFC 7464's record separator); no newline.
std::string ToLine(const WorkerMessage& message);
/// Empty for a line that is no message: a log line, say.
/// Errors  kProtocol  it begins like a message and is none.
Result<std::optional<WorkerMessage>> ParseLine(std::string_view line);

}  // namespace ringlet::cli
