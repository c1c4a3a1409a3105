// NCCL's graph files: what a search found, as NCCL_GRAPH_DUMP_FILE writes it and NCCL_GRAPH_FILE
// reads it. NCCL takes such a file without any check; here every channel is looked at.
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
  std::vector<std::uint64_t> gpus;   ///< NVML's number of each, with its host's above 56 bits
  std::vector<std::uint32_t> ranks;  ///< of each GPU
  std::vector<std::uint64_t> nets;   ///< the plugin's number of each
};
GraphNames NamesOf(const topology::Paths& paths);

/// All graphs of a plan in NCCL's order: ring, tree, CollNet direct, CollNet chain, NVLS.
/// \return ends with a newline
std::string WriteGraphs(const HostPlan& plan, const GraphNames& names);

/// Reads the graphs that a file has; of those that it lacks, the plan has no channels.
/// \param file  the name for messages
/// Errors  kInvalidArgument  "FILE:3:7: ...": no XML, a word or number that makes no sense, a GPU
/// or
///                           NIC that the machine lacks, a GPU that a channel visits twice or not
/// Cost    O(bytes + channels * devices)
Result<HostPlan> ReadGraphs(std::string_view text, std::string_view file, const GraphNames& names);

/// The first `rank` of a GPU in a file, which says whose host it is of; nothing where there is
/// none, or no file that can be read.
std::optional<std::uint32_t> FirstRankIn(std::string_view text);

}  // namespace ringlet::plan
