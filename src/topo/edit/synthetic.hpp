// Parses descriptions of machines: "2x(numa: 2x(switch: 2 gpu, 1 nic))".
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
//   count   = 1 and more; the default is 1
//
// Blanks may separate words. Hosts hold NUMA nodes; NUMA nodes and switches hold switches, GPUs and
// NICs. An omitted host or NUMA node counts as one. The layout joins all GPUs of one host with that
// layout. A GPU without a model has compute capability 8.0, PCIe 4.0 x16 and no NVLink. A GPU with
// a model but without a layout has no links. A NIC has 200 Gbit/s by default. Links of switches and
// NICs are PCIe 4.0 x16; those of NICs above 200 Gbit/s, and of switches above such or above PCIe
// 5.0 GPUs, are PCIe 5.0, above 400 PCIe 6.0. Processors are Intel's of model 143, 16 CPUs per
// node. Ranks are the numbers of the GPUs, in order.
#pragma once
#include <string_view>

#include "ringlet/status.hpp"
#include "topology/view/host_view.hpp"

namespace ringlet::topology {

inline constexpr std::size_t kSyntheticBytesMax = 4096;
inline constexpr std::size_t kSyntheticDepthMax = 16;
inline constexpr std::size_t kSyntheticPartsMax = 16'384;  ///< GPUs, NICs, switches and nodes

/// Errors  kInvalidArgument  the message has the column, from 1, and the expected token
Result<HostView> ParseSynthetic(std::string_view text);

}  // namespace ringlet::topology
