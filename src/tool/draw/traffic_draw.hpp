// Draws an emulated machine after a run. The width of a line shows the bytes that it carried. Pure.
#pragma once
#include <string>

#include "ringlet/status.hpp"
#include "tool/draw/drawing.hpp"
#include "tool/draw/topo_layout.hpp"
#include "tool/traffic/traffic_report.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// Draws each host of the report as its own machine, in the order of their numbers. The title of a
/// line has the bytes of both directions, and its label those of the larger one. Its color shows
/// the transfer time relative to the busiest link. GPUs have their rank in the largest
/// communicator.
/// \param machine  the machine of every host in the report, as RINGLET_MACHINE named it
/// Errors  kInvalidArgument  names a link of the report that the machine does not have
///         kUnsupported      as CheckDrawable
Result<Drawing> DrawTraffic(const TrafficReport& report, const topology::HostView& machine,
                            const std::string& title);

/// Returns the look of the lines of any graph that has the links of the report.
/// Errors  kInvalidArgument  as DrawTraffic
Result<LayoutLook> TrafficLook(const TrafficReport& report, const topology::Graph& graph);

}  // namespace ringlet::cli
