// Computes the hardware links from one GPU to another.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/gpus/gpu_plan.hpp"

namespace ringlet::plan {

/// The purpose of a transfer between ranks. The NICs depend on it.
enum class TransferPurpose : std::uint8_t { kRing, kTree, kMessage };

/// A link of a node, in one direction.
struct HardwareLink {
  std::uint32_t node = 0;  ///< index in GpuPlan::nodes
  topology::NodeIndex from{}, to{};
  auto operator<=>(const HardwareLink&) const = default;
};

struct GpuRoute {
  std::vector<topology::Hop> hops;  ///< without hops within a device
  std::vector<HardwareLink> links;  ///< the link of each hop
  /// Between nodes: the NIC of the sender's node and the NIC of the receiver's node.
  std::optional<topology::NodeIndex> exit = {}, entry = {};
  topology::PathType type = topology::PathType::kLoc;  ///< kNet between nodes
};

/// Within a node, returns the path. Between nodes, returns the path to the sender's NIC, and the
/// path from the receiver's NIC. Rings and trees use the NICs of their channel. A message leaves by
/// the NIC that the sender prefers. It leaves on the receiver's rail instead if the sender reaches
/// the GPU with the receiver's number over NVLink, and that GPU is near its NIC.
/// Source  NCCL 2.30
GpuRoute RouteOf(const GpuPlan& plan, Rank from, Rank to, std::uint32_t channel,
                 TransferPurpose carriage);

/// "node 1: GPU/0-11000 to NVS/0-0, NVL 200000 MB/s".
std::string ToText(const GpuPlan& plan, const HardwareLink& link);

}  // namespace ringlet::plan
