// Hierarchical: schedules in two levels, within hosts, where messages are cheap, and between them.
//
// Each byte crosses between two hosts only as often as it must, and all ranks of a host share that
// work: the l-th rank of each host exchanges data with the l-th ranks of the others (a rail). Hosts
// may have different numbers of ranks. Pure.
#pragma once
#include <cstddef>

#include "collective/algorithm/rails.hpp"
#include "collective/exec/schedule.hpp"
#include "collective/layout/groups.hpp"
#include "collective/layout/layout.hpp"

namespace ringlet::collective {

/// Returns the number of shards, each with at least `shard_elements_min` elements. At least 1, and
/// at most the number of ranks on the smallest host.
std::size_t ShardsOf(const Groups& groups, std::size_t count,
                     std::size_t shard_elements_min = kShardElementsMin);

/// Each of the first `shards` ranks of a host adds up one shard of the host's data, all-reduces it
/// on its rail, and sends it to the host's other ranks. Within a host, this takes one round each
/// way.
/// \param shards  from 1 to the number of ranks on the smallest host
Schedule HierarchicalAllReduce(const Groups& groups, std::size_t shards, Between between, Rank self,
                               std::size_t count);

/// The root sends to one rank of each host, and that rank to the rest of its host.
/// kRing: pipelines on both levels. kDoubling: binomial trees on both levels. kDirect: the root
/// sends to all hosts at once, and a binomial tree distributes within each host.
Schedule HierarchicalBroadcast(const Groups& groups, Between between, Rank self, Rank root,
                               std::size_t count);

/// HierarchicalBroadcast in reverse: the root or one rank of each host adds up the host's data, and
/// the root adds up the sums of the hosts.
Schedule HierarchicalReduce(const Groups& groups, Between between, Rank self, Rank root,
                            std::size_t count);

/// Each rank sends its block to one rank of every other host, and that rank to the rest of its
/// host. The ranks of a host take turns at receiving the blocks of another host.
Schedule HierarchicalAllGather(const Groups& groups, Rank self, std::size_t count);

/// HierarchicalAllGather in reverse: each host first adds up its data for each block.
Schedule HierarchicalReduceScatter(const Groups& groups, Rank self, std::size_t count);

}  // namespace ringlet::collective
