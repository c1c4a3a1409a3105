// The machine that most machines of a fleet are like, for those that differ from it.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// The abilities of a machine as text: models, links and rates of its GPUs and of the ports beside
/// them, without addresses and names. Machines that are built alike have the same.
std::string AbilityOf(const HostView& view);

/// For each machine the index of one that it should be like: machines with GPUs of the same model
/// are a class, and if more than half of a class, and at least two, have the same ability, the
/// others should. A machine without any GPU is of the class that more than half of all are of.
/// \param views  null: none is known
/// \return       nothing for machines that are as their class, or whose class has no such majority
/// Cost          O(parts * log parts)
std::vector<std::optional<std::size_t>> UsualMachines(std::span<const HostView* const> views);

}  // namespace ringlet::topology
