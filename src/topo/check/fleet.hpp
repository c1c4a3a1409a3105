// Finds the typical machine of a fleet, for the machines that differ from it.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Returns the abilities of a machine as text: models, links and rates of its GPUs and of its
/// ports, without addresses and names. Identical machines have equal texts.
std::string AbilityOf(const HostView& view);

/// Returns, for each machine, the index of the one it should equal. A kind has GPUs of the same
/// model, the same processor, and mostly the same models of PCI functions. If more than half of a
/// kind, and at least two, have the same ability, the others should have it. A machine without any
/// GPU counts to the kind of more than half of all machines, if there is one.
/// \param views  null: unknown
/// \return       empty for machines that equal their kind, or without such a majority
/// Cost          O(parts * log parts)
std::vector<std::optional<std::size_t>> UsualMachines(std::span<const HostView* const> views);

}  // namespace ringlet::topology
