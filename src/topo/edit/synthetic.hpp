// Machines in words: "2x(numa: 2x(switch: 2 gpu, 1 nic))".
//
//   machine = items
//   items   = item { "," item }
//   item    = [ count "x" ] "(" place ":" items ")"
//           | [ count ] "gpu" [ model [ layout ] ]
//           | [ count ] "nic" [ speed ]
//   place   = "host" | "numa" | "switch"
//   model   = a name of known_devices.hpp, such as h100-sxm5
//   layout  = "none" | "switch" | "pairs" | "mesh" | "cube-mesh"
//   speed   = Gbit/s, such as 400g
//   count   = 1 and more; 1 if there is none
//
// Blanks may stand anywhere between words. Hosts hold NUMA nodes, NUMA nodes and switches hold
// switches, GPUs and NICs; where a host or a NUMA node is left out, there is one. The layout says
// how all GPUs of one host that name it are joined; without a model a GPU is of compute
// capability 8.0 with PCIe 4.0 x16 and no NVLink, and with a model but no layout it has no links. A
// NIC has 200 Gbit/s. Links of switches and NICs are PCIe 4.0 x16, of NICs above 200 Gbit/s and
// switches above such or above PCIe 5.0 GPUs PCIe 5.0, above 400 PCIe 6.0. Processors are Intel's
// of model 143, 16 CPUs a node. Ranks are the numbers of the GPUs, in order.
#pragma once
#include <string_view>

#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

inline constexpr std::size_t kSyntheticBytesMax = 4096;
inline constexpr std::size_t kSyntheticDepthMax = 16;
inline constexpr std::size_t kSyntheticPartsMax = 16'384;  ///< GPUs, NICs, switches and nodes

/// Errors  kInvalidArgument  names the column, from 1, and what was expected there
Result<HostView> ParseSynthetic(std::string_view text);

}  // namespace ringlet::topology
