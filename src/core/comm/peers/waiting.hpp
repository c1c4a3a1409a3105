// The wait policy of a communicator's ranks. Pure: computed from their peer infos.
#pragma once
#include <vector>

#include "base/settings/settings.hpp"
#include "collective/call/wait_policy.hpp"
#include "comm/peers/peer_table.hpp"
#include "topology/view/cpu_set.hpp"

namespace ringlet::comm {

/// Returns true if each of these ranks can have its own CPU at the same time. False if a set is
/// empty: unknown. Cost O(ranks * CPUs), squared at worst.
bool HasCoreForEachRank(const std::vector<topology::CpuSet>& ranks);

/// Returns the policy on the host of `self`: the setting, or with kAuto one that fits the CPUs.
collective::WaitPolicy WaitPolicyOf(const PeerTable& peer_table, Rank self, WaitChoice wait);

}  // namespace ringlet::comm
