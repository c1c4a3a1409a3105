// The search within one class of hosts: which channels its links carry, for every pattern.
#pragma once
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "plan/channels/search_step.hpp"
#include "plan/routes/search_options.hpp"
#include "ringlet/status.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::plan {

/// Plans one system: a host, or the hosts of an NVLink domain.
///
/// \param paths  of the system, after trimming; it has GPUs, or else ranks in CPU memory
/// Errors  kUnsupported  no devices, or more than kSearchDevicesMax
/// Cost    bounded by budgets of steps, not by a clock; docs/performance.md has times
/// \param stories  if not null, what was tried, graph by graph
Result<HostPlan> SearchHost(const topology::Paths& paths, const SearchOptions& options,
                            std::vector<SearchTrace>* search_traces = nullptr);

}  // namespace ringlet::plan
