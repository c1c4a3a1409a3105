// Writes a view as NCCL writes its topology: two blanks a level, attributes in NCCL's order.
#pragma once
#include <string>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Values without an attribute of NCCL's go into attributes that NCCL ignores: distances of NUMA
/// nodes (`distances`) and NVLink domains (`fabric_cluster`, `fabric_clique`). Not written: memory,
/// the processor's name, and of interfaces their kind, RDMA device and members. Interfaces without
/// a NIC come below their NUMA node, or the first one. The five characters that XML escapes are
/// escaped, which NCCL would not undo; no real file has them.
///
/// Of a view that was read from XML nothing is lost: reading the result gives an equal view.
/// \pre   view.Check() has passed
std::string ToXml(const HostView& view);

}  // namespace ringlet::topology
