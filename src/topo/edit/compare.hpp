// The differences between two machines, in words.
#pragma once
#include <string>
#include <vector>

#include "topology/view/host_view.hpp"

namespace ringlet::topology {

/// A sentence for each difference: parts that only one of them has, in the order of the machine
/// that has them, and what differs of those that both have. Parts are the same where they have the
/// same name: NUMA nodes by number, PCI functions, GPUs and links by address, interfaces by name.
/// If there is nothing to say but the order, it says that. Identity and name of the host, ranks and
/// memory are not looked at: two hosts that are built alike do not differ. Empty: no difference.
/// \pre   Check() of both has passed
/// Cost   O(n log n) in the number of parts
std::vector<std::string> Compare(const HostView& first, const HostView& second);

}  // namespace ringlet::topology
