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
#include <variant>
#include <vector>

#include "collective/algorithm/rails.hpp"
#include "collective/call/call.hpp"
#include "collective/algorithm/groups.hpp"
#include "collective/exec/schedule.hpp"

namespace ringlet::collective {

/// Elements of a piece. A piece is long beside the time from one host to another, and its share of
/// each rank stays in a cache until it goes to another host.
inline constexpr std::size_t kPieceElementsMin = 256 * 1024;
inline constexpr std::size_t kPiecesMax = 32;

/// An operation of the ranks of one host through their memory. Averages are sums here: they are
/// divided on their way between hosts.
struct HostPart {
  CallKind kind = CallKind::kAllReduce;
  Rank root{};            ///< a place among the ranks of the host
  std::size_t count = 0;  ///< as in Call, among the ranks of the host
  Place input = {};
  Place output = {};
  /// Ranks of the host have talked to other hosts since the part before, which this one needs.
  bool after_links = false;
  /// So many of this rank's parts over links are done before it begins.
  std::size_t links_before = 0;
  bool operator==(const HostPart&) const = default;
};

/// Of the whole call: places are in its buffers and in one scratch that all parts share. In order,
/// parts do what the call says. Parts over links go on, one after the other, beside those on the
/// host that follow, but for what `links_before` says: neither touches what the other writes.
using CallPart = std::variant<HostPart, Schedule>;
struct CallParts {
  std::size_t scratch_count = 0;
  std::vector<CallPart> parts = {};
};

/// Whether each host has as many ranks, ranks 0 to n - 1 on the first one, and so on.
bool AreInRankOrder(const Groups& hosts);

// The ranks of each of `hosts` in ascending order, two hosts or more.

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
