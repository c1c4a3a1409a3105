// Schedules in two levels: within hosts, where talk is cheap, and between them.
//
// Every byte crosses between two hosts as often as it must, and all ranks of a host share that
// work: the l-th rank of each host talks to the l-th ranks of the others (a rail). Hosts may have
// different numbers of ranks. Pure.
#pragma once
#include <cstddef>

#include "collective/algorithm/groups.hpp"
#include "collective/algorithm/layout.hpp"
#include "collective/algorithm/rails.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// Into how many shards of at least so many elements `count` are cut: at least one, at most as many
/// as the smallest host has ranks.
std::size_t ShardsOf(const Groups& groups, std::size_t count,
                     std::size_t shard_elements_min = kShardElementsMin);

/// Each rank, or the first ones, adds up one shard of its host's data, the rail all-reduces it, and
/// it goes to the host's other ranks. Within a host each rank talks to those: one round each way.
/// \param shards  from 1 to the ranks of the smallest host
Schedule HierarchicalAllReduce(const Groups& groups, std::size_t shards, Between between, Rank self,
                               std::size_t count);

/// From the root to one rank of each host, from there to the rest of the host.
/// kRing: both by pipelines; kDoubling: both by binomial trees; kDirect: to all hosts at once,
/// within a host by a binomial tree.
Schedule HierarchicalBroadcast(const Groups& groups, Between between, Rank self, Rank root,
                               std::size_t count);

/// The same backwards: each host's data are added up by the root or one rank of the host, the sums
/// of the hosts by the root.
Schedule HierarchicalReduce(const Groups& groups, Between between, Rank self, Rank root,
                            std::size_t count);

/// Each block goes to one rank of every other host, from there to the rest of the host; blocks of a
/// host come to its ranks by turns.
Schedule HierarchicalAllGather(const Groups& groups, Rank self, std::size_t count);

/// The same backwards: each block is added up within each host first.
Schedule HierarchicalReduceScatter(const Groups& groups, Rank self, std::size_t count);

}  // namespace ringlet::collective
