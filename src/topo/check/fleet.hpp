// The machine that most machines of a fleet are like, for those that differ from it.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// The abilities of a machine as text: models, links and rates of its GPUs and of its ports,
/// without addresses and names. Machines that are built alike have the same.
std::string AbilityOf(const HostView& view);

/// For each machine the index of one that it should be like: machines with GPUs of the same model,
/// with the same processor, and with PCI functions that are mostly of the same models, are a kind.
/// If more than half of a kind, and at least two, have the same ability, the others should. A
/// machine without any GPU is of the kind that more than half of all are of.
/// \param views  null: none is known
/// \return       nothing for machines that are as their kind, or whose kind has no such majority
/// Cost          O(parts * log parts)
std::vector<std::optional<std::size_t>> UsualMachines(std::span<const HostView* const> views);

}  // namespace ringlet::topology
