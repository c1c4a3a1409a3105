// How the ranks of a communicator wait for each other: pure, from what they said of themselves.
#pragma once
#include <vector>

#include "base/settings/settings.hpp"
#include "collective/call/wait_policy.hpp"
#include "comm/peers/peer_table.hpp"
#include "topology/view/cpu_set.hpp"

namespace ringlet::comm {

/// Whether ranks that may run on these CPUs can have one each, all at the same time. False if a set
/// is empty: unknown. Cost O(ranks * CPUs), squared at worst.
bool EachHasACore(const std::vector<topology::CpuSet>& ranks);

/// Of the ranks on the host of `self`; what the setting says, or with kAuto what their CPUs allow.
collective::WaitPolicy WaitPolicyOf(const PeerTable& peer_table, Rank self, WaitChoice wait);

}  // namespace ringlet::comm
