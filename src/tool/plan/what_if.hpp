// Changes of a machine in words, to see what they give: "GPU3 pcie=gen5x16", "NICs rate=400Gb/s",
// "remove mlx5_4".
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ringlet/status.hpp"
#include "tool/input/topo_source.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::cli {

/// The machine with a change.
///
///     change = PART {"," PART} SETTING {SETTING}
///            | ("remove" | "add") PART {"," PART}
///     PART   = a label as of `topo show` ("GPU3", "mlx5_0"), a bus address, "GPUs", "NICs" or
///              "switches" for all of a kind
///     SETTING = "pcie=gen" 1-7 "x" LANES | "rate=" RATE | "nvlinks=" COUNT | "gdr=" ("on" | "off")
///
/// A PCIe link is that of a part to what is above it. NVLinks of a GPU are divided among its
/// neighbours as they were, and at the other ends, too. A part that is added is a copy, and hangs
/// where that hangs.
/// Errors  kInvalidArgument  quotes the change, names what makes no sense, and what could stand
/// there
Result<topology::HostView> ChangedView(topology::HostView view, std::string_view change);

/// One change after the other; empty: no edit.
ViewEdit EditOf(std::vector<std::string> changes);

/// --what-if
/// \param changes  outlives the parsing
void AddWhatIf(CLI::App& command, std::vector<std::string>& changes);

}  // namespace ringlet::cli
