// The first half of building a graph: adds the parts of a view and their PCI tree.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "topology/graph/draft.hpp"

namespace ringlet::topology {

/// By view and GPU: the rank of the GPU, or null.
using GpuRankTable = std::vector<std::vector<std::optional<Rank>>>;

/// Errors  kInvalidArgument  two GPUs have the same rank; contains both
Result<GpuRankTable> AssignRanks(std::span<const HostView> views, GpuRanks which);

/// A GPU as hardware. A split GPU has two halves.
struct Device {
  std::vector<NodeIndex> halves;
  std::vector<std::uint32_t> gpus;  ///< by half: index in the view of the first GPU element on it
  std::uint32_t pci = 0;            ///< index in the view
  NodeIndex cpu{};                  ///< the NUMA node above it
};

/// The nodes of one view. The functions that add other links use it.
struct Tree {
  std::vector<std::uint32_t> hosts;                           ///< by NUMA node: host of the draft
  std::vector<NodeIndex> cpus;                                ///< by NUMA node
  std::vector<std::optional<NodeIndex>> switches;             ///< by PCI function
  std::map<std::pair<std::uint32_t, BusId>, Device> devices;  ///< by host and address
  std::vector<std::pair<std::uint32_t, BusId>> device_order;  ///< in the order of the view
  std::map<std::pair<std::uint32_t, std::uint64_t>, NodeIndex> nics;
};

/// Adds hosts, NUMA nodes, switches, devices with their ranks, and NICs with their ports.
/// \param ranks  by GPU of the view
/// Errors  kInvalidArgument  two GPUs have one address, or a GPU is split into more than two parts
Result<Tree> AddTree(Draft& draft, const HostView& view, Rules rules,
                     std::span<const std::optional<Rank>> ranks);

}  // namespace ringlet::topology
