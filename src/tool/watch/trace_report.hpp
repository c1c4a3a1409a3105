// The report of `ringlet trace` on the traces of some ranks: pure, text and JSON.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "watch/rank_trace.hpp"
#include "watcher/trace/clocks.hpp"
#include "watcher/trace/comparison.hpp"

namespace ringlet::cli {

/// One communicator.
struct TraceReport {
  std::string communicator = {};
  std::uint32_t ranks = 0;
  std::vector<watch::RankTrace> traces = {};   ///< by rank, each once
  std::vector<watch::ClockShift> shifts = {};  ///< one for each trace
  std::optional<watch::Divergence> divergence = {};
  std::vector<std::string> findings = {};  ///< of the ranks as they were at the end
  watch::Lateness lateness = {};
};

/// By communicator. Of two traces of one rank the later counts.
std::vector<TraceReport> ReportTraces(std::vector<watch::RankTrace> traces);

std::string ToText(const TraceReport& report);
/// A list of objects.
std::string ToJson(const std::vector<TraceReport>& reports);

}  // namespace ringlet::cli
