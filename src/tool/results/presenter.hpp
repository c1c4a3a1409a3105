// Shows a benchmark while it runs and afterwards: a table row by row, or one JSON object.
#pragma once
#include <cstdio>
#include <string>

#include "base/wire/machine.hpp"
#include "tool/results/table.hpp"

namespace ringlet::cli {

class Presenter {
 public:
  struct Options {
    BenchReport report;  ///< ranks, type and op
    TableHead head;      ///< all but the links
    bool json = false;
    std::size_t sizes = 0;  ///< rows to come
    bool in_place = false;  ///< only in place, which a narrow table then shows
    Instant start{0};
    /// The output streams; this process's standard streams unless a test wants to look.
    std::FILE* output = stdout;
    std::FILE* errors = stderr;
  };
  explicit Presenter(Options options);

  /// Takes in what rank 0 says. The table grows at once.
  void OnMessage(const WorkerMessage& message);
  /// Tells on standard error how far it is, where the user would otherwise see nothing for long.
  void OnTick(Instant now);
  /// The end: the foot of the table, or the JSON object. Not called after a failure.
  void Finish();

  /// A peer's name of itself: "Open MPI v5.0.11".
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
