// The common facts of hosts of one kind. Ranks exchange each shape once: a thousand equal hosts
// cost as much as one.
#pragma once
#include <cstdint>
#include <string>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Removes from a view the facts that differ between hosts of one kind and do not affect a Graph:
/// name, identity, memory, the processor's name, and ranks. Numbers the chips of ports 1, 2, ... so
/// that they stay distinct. Hosts of equal shape get equal plans.
HostView ShapeOf(HostView view);

/// Creates a host from a shape. The chips of its ports get numbers that are unique among hosts and
/// equal on every rank.
/// \param identity  from HostIdentity()
HostView HostOfShape(HostView shape, std::string name, std::uint64_t identity);

}  // namespace ringlet::topology
