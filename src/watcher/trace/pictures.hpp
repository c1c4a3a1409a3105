// Traces in the forms of other tools: Chrome's trace, which Perfetto shows, and the flight recorder
// of PyTorch. Pure.
#pragma once
#include <string>
#include <vector>

#include "watch/rank_trace.hpp"
#include "watcher/trace/clocks.hpp"

namespace ringlet::watch {

/// All ranks, a row each; times that were not measured are drawn between their neighbours and
/// marked so. \param traces  of any communicators. \param shifts  one for each trace
std::string ToChromeTrace(const std::vector<RankTrace>& traces,
                          const std::vector<ClockShift>& shifts);

/// One rank, as torch.distributed's dumps have it (version 2.10), in JSON.
/// \param traces  of this rank, one for each of its communicators. Not empty
std::string ToFlightRecorder(const std::vector<RankTrace>& traces);

}  // namespace ringlet::watch
