// Shows a benchmark during its run and at its end: as a table row by row, or as one JSON object.
#pragma once
#include <cstdio>
#include <string>

#include "base/wire/machine.hpp"
#include "tool/results/table.hpp"

namespace ringlet::cli {

class ReportPrinter {
 public:
  struct Options {
    BenchReport report;  ///< contains ranks, type and op
    TableHead head;      ///< contains all but the links
    bool json = false;
    std::size_t sizes = 0;  ///< number of expected rows
    bool in_place = false;  ///< only in place; a narrow table then shows that placement
    Instant start{0};
    /// The output streams. Tests replace this process's standard streams.
    std::FILE* output = stdout;
    std::FILE* errors = stderr;
  };
  explicit ReportPrinter(Options options);

  /// Processes a message of rank 0. Prints new rows of the table at once.
  void OnMessage(const WorkerMessage& message);
  /// Reports the progress on standard error if no row was printed for long.
  void OnTick(Instant now);
  /// Prints the foot of the table or the JSON object. Not called after a failure.
  void Finish();

  /// Stores the version that a peer reported: "Open MPI v5.0.11".
  void OnVersion(const std::string& peer, std::string version) {
    options_.report.versions[peer] = std::move(version);
  }

  bool complete() const { return options_.report.rows.size() == options_.sizes; }
  const BenchReport& report() const { return options_.report; }

 private:
  Options options_;
  Instant silent_until_;
};

}  // namespace ringlet::cli
