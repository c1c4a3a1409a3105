// Rails: the exchange between one rank of each host, for the parts of hierarchical collectives that
// cross between hosts. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collective/exec/schedule.hpp"
#include "collective/layout/call_cost.hpp"
#include "collective/layout/groups.hpp"

namespace ringlet::collective {

/// The exchange pattern among the ranks of a rail.
enum class Between : std::uint8_t {
  kRing,      ///< for large messages
  kDoubling,  ///< for small messages
  kDirect,    ///< for very small messages over long distances: all pairs at once
};

/// Returns the rank with index `local` of each host. \pre  each host has that many ranks
std::vector<Rank> RailAt(const Groups& groups, std::size_t local);
/// Returns the rank of each host that exchanges data with other hosts: the root, or the first rank.
std::vector<Rank> LeadersFor(const Groups& groups, Rank root);

/// Build schedules among the ranks of `rail`, which contains `self`.
Schedule RailAllReduce(std::span<const Rank> rail, Between between, Rank self, std::size_t count);
Schedule RailBroadcast(std::span<const Rank> rail, Between between, Rank self, Rank root,
                       std::size_t count);
Schedule RailReduce(std::span<const Rank> rail, Between between, Rank self, Rank root,
                    std::size_t count);

/// Converts a schedule among ranks 0 to n - 1 to one among the ranks of `rail`.
Schedule OnRail(Schedule schedule, std::span<const Rank> rail);

/// Returns the time that a hierarchical all-reduce on `rails` rails takes between hosts.
std::uint64_t RailsNs(const CallCost& one, Between between, std::uint64_t rails);
/// Returns the time that a broadcast or reduce among one rank of each host takes.
std::uint64_t RailWithRootNs(const CallCost& one, Between between);

}  // namespace ringlet::collective
