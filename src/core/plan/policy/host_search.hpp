// The search within one class of hosts: the channels of every pattern.
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
/// \param paths  of the system, after trimming; it contains GPUs, or else ranks in CPU memory
/// \param search_traces  receives the steps of each graph, if not null
/// Errors  kUnsupported  no devices, or more than kSearchDevicesMax
/// Cost    limited by numbers of steps, not by a clock; docs/performance.md lists times
Result<HostPlan> SearchHost(const topology::Paths& paths, const SearchOptions& options,
                            std::vector<SearchTrace>* search_traces = nullptr);

}  // namespace ringlet::plan
