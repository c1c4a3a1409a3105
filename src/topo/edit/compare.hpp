// The differences between two machines, in words.
#pragma once
#include <string>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// Returns a sentence for each difference: parts of only one machine, in its order, and changed
/// values of common parts. Parts are equal by name: NUMA nodes by number, PCI functions, GPUs and
/// links by address, interfaces by name. A difference in the order is reported if it is the only
/// one. The comparison ignores identity and name of the host, ranks and memory, so two hosts of
/// equal hardware do not differ. Empty: no difference.
/// \pre   Check() of both has passed
/// Cost   O(n log n) in the number of parts
std::vector<std::string> Compare(const HostView& first, const HostView& second);

}  // namespace ringlet::topology
