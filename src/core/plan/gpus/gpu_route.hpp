// The links of the hardware that data take from one GPU to another.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/gpus/gpu_plan.hpp"

namespace ringlet::plan {

/// Why data go from one rank to another, on which the NICs depend.
enum class Carriage : std::uint8_t { kRing, kTree, kMessage };

/// One direction of one link of one node.
struct HardwareLink {
  std::uint32_t node = 0;  ///< index in GpuPlan::nodes
  topology::NodeIndex from{}, to{};
  auto operator<=>(const HardwareLink&) const = default;
};

struct GpuRoute {
  std::vector<topology::Hop> hops;  ///< but not within a device
  std::vector<HardwareLink> links;  ///< of each hop
  /// Between nodes: the NIC of the sender's node, and that of the receiver's.
  std::optional<topology::NodeIndex> exit = {}, entry = {};
  topology::PathType type = topology::PathType::kLoc;  ///< kNet between nodes
};

/// Within a node its path; between nodes that to the NIC of the sender, and from the NIC of the
/// receiver. NICs of rings and trees are those of the channel; of messages the one that the sender
/// prefers, or that which the GPU of the receiver's number prefers, if it is reached through that.
/// Source  NCCL 2.30
GpuRoute RouteOf(const GpuPlan& plan, Rank from, Rank to, std::uint32_t channel, Carriage carriage);

/// "node 1: GPU/0-11000 to NVS/0-0, NVL 200000 MB/s".
std::string ToText(const GpuPlan& plan, const HardwareLink& link);

}  // namespace ringlet::plan
