// Writes traces for other tools: Chrome's trace (Perfetto), PyTorch's flight recorder. Pure.
#pragma once
#include <string>
#include <vector>

#include "watch/rank_trace.hpp"
#include "watcher/trace/clocks.hpp"

namespace ringlet::watch {

/// Draws all ranks, a row each. Unmeasured times lie between their neighbours and are marked.
/// \param traces  of any communicators
/// \param shifts  one per trace
std::string ToChromeTrace(const std::vector<RankTrace>& traces,
                          const std::vector<ClockShift>& shifts);

/// Returns one rank's dump in the form of torch.distributed (version 2.10), in JSON.
/// \param traces  of this rank, one per communicator. Not empty
std::string ToFlightRecorder(const std::vector<RankTrace>& traces);

}  // namespace ringlet::watch
