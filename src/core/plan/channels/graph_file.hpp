// Reads and writes NCCL's graph files with the result of a search. NCCL_GRAPH_DUMP_FILE names the
// file to write, NCCL_GRAPH_FILE the file to read. Unlike NCCL, this reader checks every channel.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/channels/pattern_graph.hpp"
#include "ringlet/status.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::plan {

/// The names of a plan's devices and NICs in files.
struct GraphNames {
  std::vector<std::uint64_t> gpus;   ///< NVML's device number; host number from bit 56 on
  std::vector<std::uint32_t> ranks;  ///< the rank of each GPU
  std::vector<std::uint64_t> nets;  ///< the plugin's number of each NIC; host number from bit 56 on
};
GraphNames NamesOf(const topology::Paths& paths);

/// Writes all graphs of a plan in NCCL's order: ring, tree, CollNet direct, CollNet chain, NVLS.
/// \return text that ends with a newline
std::string WriteGraphs(const HostPlan& plan, const GraphNames& names);

/// Reads the graphs of a file. Graphs that the file lacks get no channels.
/// \param file  the name for messages
/// Errors  kInvalidArgument  "FILE:3:7: ...": not XML, an invalid word or number, a GPU or NIC that
///                           the machine lacks, a GPU that a channel visits twice or not at all
/// Cost    O(bytes + channels * devices)
Result<HostPlan> ReadGraphs(std::string_view text, std::string_view file, const GraphNames& names);

/// The `rank` of the first GPU in a file. It identifies the host of the file. Null if the attribute
/// is missing or the file does not parse.
std::optional<std::uint32_t> FirstRankIn(std::string_view text);

}  // namespace ringlet::plan
