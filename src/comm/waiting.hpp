// How the ranks of a communicator wait for each other: pure, from what they said of themselves.
#pragma once
#include <vector>

#include "base/settings.hpp"
#include "collective/patience.hpp"
#include "comm/census.hpp"
#include "topology/cpu_set.hpp"

namespace ringlet::comm {

/// Whether ranks that may run on these CPUs can have one each, all at the same time. False where a
/// set is empty: nobody knows then. Cost  O(ranks * CPUs), squared at worst.
bool EachHasACore(const std::vector<topology::CpuSet>& ranks);

/// Of the ranks on the host of `self`; what the setting says, or with kAuto what their CPUs allow.
collective::Patience PatienceOf(const Census& census, Rank self, WaitChoice wait);

}  // namespace ringlet::comm
