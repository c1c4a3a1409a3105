// The report of `ringlet trace` on the traces of some ranks, as text and JSON. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "watch/rank_trace.hpp"
#include "watcher/trace/clocks.hpp"
#include "watcher/trace/comparison.hpp"

namespace ringlet::cli {

/// The report on one communicator.
struct TraceReport {
  std::string communicator = {};
  std::uint32_t ranks = 0;
  std::vector<watch::RankTrace> traces = {};   ///< by rank, each once
  std::vector<watch::ClockShift> shifts = {};  ///< one for each trace
  std::optional<watch::Divergence> divergence = {};
  std::vector<std::string> findings = {};  ///< state of the ranks at the end
  watch::Lateness lateness = {};
};

/// Returns one report per communicator. Uses the later of two traces of one rank.
std::vector<TraceReport> ReportTraces(std::vector<watch::RankTrace> traces);

std::string ToText(const TraceReport& report);
/// Returns a list of objects.
std::string ToJson(const std::vector<TraceReport>& reports);

}  // namespace ringlet::cli
