// Collectives among several hosts, each of whose ranks share memory: part after part, through the
// memory of the host and over links between hosts.
//
// A host's part of a schedule of hierarchy.hpp is here one operation of ShmCollective, so
// that a host of many ranks costs as much as one. Much of an all-reduce, all-gather or
// reduce-scatter is shared by all ranks of a host, each of which talks to one rank of every other
// host; of little the first rank of each host talks to the other first ones. A long message
// is cut into pieces: while one is between hosts, the others pass through the memory. Pure.
#pragma once
#include <cstddef>
#include <string>

#include "collective/algorithm/call_parts.hpp"
#include "collective/algorithm/groups.hpp"
#include "collective/algorithm/layout.hpp"
#include "collective/algorithm/rails.hpp"
#include "collective/call/call.hpp"

namespace ringlet::collective {

inline constexpr std::size_t kPiecesMax = 32;

/// Whether each host has as many ranks, ranks 0 to n - 1 on the first one, and so on.
bool AreInRankOrder(const Groups& hosts);

// The ranks of each of `hosts` in ascending order, two hosts or more.

/// Into how many shards such an algorithm cuts what each host has: as many as the host has ranks,
/// where all have the same number and each shard has `shard_elements_min`; else 1.
/// \pre  no broadcast or reduce
std::size_t SharedShardsOf(const Call& call, const Layout& layout);
/// Into how many pieces such an algorithm cuts a long message, each of `piece_elements_min` or
/// more.
std::size_t SharedPiecesOf(const Call& call, const Layout& layout);

/// \param shards  1, or as many as each host has ranks
/// \param pieces  1 or more; where there are fewer elements than `pieces * shards`, 1 is meant
CallParts SharedAllReduce(const Groups& hosts, std::size_t shards, std::size_t pieces,
                          Between between, Rank self, std::size_t count);
CallParts SharedBroadcast(const Groups& hosts, std::size_t pieces, Between between, Rank self,
                          Rank root, std::size_t count);
CallParts SharedReduce(const Groups& hosts, std::size_t pieces, Between between, Rank self,
                       Rank root, std::size_t count);
/// \param shards  1, or as many as each host has ranks. \pre  AreInRankOrder
CallParts SharedAllGather(const Groups& hosts, std::size_t shards, Rank self, std::size_t count);
CallParts SharedReduceScatter(const Groups& hosts, std::size_t shards, Rank self,
                              std::size_t count);

/// One part after the other, a step a line, for `ringlet explain`.
std::string ToText(const CallParts& parts);

}  // namespace ringlet::collective
