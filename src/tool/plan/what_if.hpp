// Changes of a machine in words, to compare plans: "GPU3 pcie=gen5x16", "NICs rate=400Gb/s",
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

/// Returns the machine with a change.
///
///     change = PART {"," PART} SETTING {SETTING}
///            | ("remove" | "add") PART {"," PART}
///     PART   = a label as in `topo show` ("GPU3", "mlx5_0"), a bus address, or "GPUs", "NICs" or
///              "switches" for all of a kind
///     SETTING = "pcie=gen" 1-7 "x" LANES | "rate=" RATE | "nvlinks=" COUNT | "gdr=" ("on" | "off")
///
/// pcie changes the link from a part to its parent. nvlinks divides the NVLinks of a GPU among its
/// neighbors in the present proportion, and changes the other ends as well. An added part is a copy
/// with the same parent.
/// Errors  kInvalidArgument  quotes the change, names the wrong word and the allowed ones
Result<topology::HostView> ChangedView(topology::HostView view, std::string_view change);

/// Applies the changes in order. Empty: no edit.
ViewEdit EditOf(std::vector<std::string> changes);

/// Adds --what-if.
/// \param changes  outlives the parsing
void AddWhatIf(CLI::App& command, std::vector<std::string>& changes);

}  // namespace ringlet::cli
