// Writes a view in NCCL's format: two blanks per level, attributes in NCCL's order.
#pragma once
#include <string>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Uses attributes that NCCL ignores for values that NCCL lacks: distances of NUMA nodes
/// (`distances`) and NVLink domains (`fabric_cluster`, `fabric_clique`). Omits memory, the
/// processor's name, and the kind, RDMA device and members of interfaces. Puts interfaces without a
/// NIC below their NUMA node, or below the first one. Escapes XML's five special characters. NCCL
/// would not decode these, but no real file contains them.
///
/// Reading the result of a view from XML gives an equal view.
/// \pre   view.Check() passed
std::string ToXml(const HostView& view);

}  // namespace ringlet::topology
