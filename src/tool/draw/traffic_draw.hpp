// The picture of an emulated machine after a run: lines are as wide as the bytes that they carried.
// Pure.
#pragma once
#include <string>

#include "ringlet/status.hpp"
#include "tool/draw/drawing.hpp"
#include "tool/draw/topo_layout.hpp"
#include "tool/traffic/traffic_report.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// Each host of the report as a machine of its own, in the order of their numbers. A line has the
/// bytes of both directions as its title, and beside it those of the one that carried more; its
/// color says how long they take, beside the busiest link of all. GPUs have the rank that they are
/// in the largest communicator.
/// \param machine  what all hosts of the report are, as RINGLET_MACHINE named it
/// Errors  kInvalidArgument  a link of the report is not in the machine; names it
///         kUnsupported      as CheckDrawable
Result<Drawing> DrawTraffic(const TrafficReport& report, const topology::HostView& machine,
                            const std::string& title);

/// The look of the lines of any graph that has the links of the report.
/// Errors  kInvalidArgument  as DrawTraffic
Result<LayoutLook> TrafficLook(const TrafficReport& report, const topology::Graph& graph);

}  // namespace ringlet::cli
