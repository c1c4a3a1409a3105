// Hierarchical collectives among several hosts on which ranks share memory. Parts through the
// memory of the host alternate with parts over links between hosts.
//
// A host's part of a schedule in hierarchy.hpp is one operation of ShmCollective here, so that many
// ranks on a host cost as much as one. In large all-reduces, all-gathers and reduce-scatters, each
// rank of a host exchanges data with one rank of every other host. In small ones only the first
// rank of each host does. Long messages are cut into pieces: while one piece travels between hosts,
// the others pass through memory. Pure.
#pragma once
#include <cstddef>
#include <string>

#include "collective/algorithm/rails.hpp"
#include "collective/call/call.hpp"
#include "collective/layout/call_parts.hpp"
#include "collective/layout/groups.hpp"
#include "collective/layout/layout.hpp"

namespace ringlet::collective {

inline constexpr std::size_t kPiecesMax = 32;

/// Returns true if each host has n ranks, the first one ranks 0 to n - 1, and so on.
bool AreInRankOrder(const Groups& hosts);

// In the functions below, `hosts` are two or more lists of ranks in ascending order.

/// Returns the number of shards per host: the number of ranks on a host, if it is the same on all
/// hosts and each shard has `shard_elements_min` elements; otherwise 1.
/// \pre  the call is neither a broadcast nor a reduce
std::size_t SharedShardsOf(const Call& call, const Layout& layout);
/// Returns the number of pieces of a long message, each with at least `piece_elements_min`
/// elements.
std::size_t SharedPiecesOf(const Call& call, const Layout& layout);

/// \param shards  1, or the number of ranks per host
/// \param pieces  at least 1; counts as 1 if there are fewer than `pieces * shards` elements
CallParts SharedAllReduce(const Groups& hosts, std::size_t shards, std::size_t pieces,
                          Between between, Rank self, std::size_t count);
CallParts SharedBroadcast(const Groups& hosts, std::size_t pieces, Between between, Rank self,
                          Rank root, std::size_t count);
CallParts SharedReduce(const Groups& hosts, std::size_t pieces, Between between, Rank self,
                       Rank root, std::size_t count);
/// \param shards  1, or the number of ranks per host. \pre  AreInRankOrder
CallParts SharedAllGather(const Groups& hosts, std::size_t shards, Rank self, std::size_t count);
CallParts SharedReduceScatter(const Groups& hosts, std::size_t shards, Rank self,
                              std::size_t count);

/// Lists the parts in order, one step per line, for `ringlet explain`.
std::string ToText(const CallParts& parts);

}  // namespace ringlet::collective
