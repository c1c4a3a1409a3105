// The first half of a graph: what a view holds, and the PCI tree that joins it.
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

/// The rank that each GPU of each view gets; empty: none.
using GpuRankTable = std::vector<std::vector<std::optional<Rank>>>;

/// Errors  kInvalidArgument  two GPUs have one rank; names both
Result<GpuRankTable> AssignRanks(std::span<const HostView> views, GpuRanks which);

/// A GPU as hardware; two of them where it is split.
struct Device {
  std::vector<NodeIndex> halves;
  std::vector<std::uint32_t> gpus;  ///< for each half, the first element of the view that names it
  std::uint32_t pci = 0;            ///< of the view
  NodeIndex cpu{};                  ///< above it
};

/// The nodes of one view, for the code that adds the other links.
struct Tree {
  std::vector<std::uint32_t> hosts;                           ///< of the draft, for each NUMA node
  std::vector<NodeIndex> cpus;                                ///< for each NUMA node
  std::vector<std::optional<NodeIndex>> switches;             ///< for each PCI function
  std::map<std::pair<std::uint32_t, BusId>, Device> devices;  ///< by host
  std::vector<std::pair<std::uint32_t, BusId>> device_order;  ///< as the view names them
  std::map<std::pair<std::uint32_t, std::uint64_t>, NodeIndex> nics;
};

/// Adds hosts, NUMA nodes, switches, devices with their ranks, and NICs with their ports.
/// \param ranks  for each GPU of the view
/// Errors  kInvalidArgument  two GPUs have one address, or a GPU is split in more than two
Result<Tree> AddTree(Draft& draft, const HostView& view, Rules rules,
                     std::span<const std::optional<Rank>> ranks);

}  // namespace ringlet::topology
