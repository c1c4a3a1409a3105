// The common facts of hosts of one kind. Ranks send each other the shapes of their hosts, each
// shape once: a thousand equal hosts cost as much as one.
#pragma once
#include <cstdint>
#include <string>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// The view without what tells its host from others of its kind and no Graph is made from: name,
/// identity, memory, the processor's name, the numbers of ports' chips (kept apart as 1, 2, ...),
/// ranks. Two hosts of equal shape differ in nothing that a plan depends on.
HostView ShapeOf(HostView view);

/// A host of that shape. The chips of its ports get numbers that no other host's have, the same on
/// every rank.
/// \param identity  as HostIdentity gives it
HostView HostOfShape(HostView shape, std::string name, std::uint64_t identity);

}  // namespace ringlet::topology
